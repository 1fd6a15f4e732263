// TypeScript SDK v1 drives the story; WebSocket too, which needs Node 22.
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {SSEClientTransport} from '@modelcontextprotocol/sdk/client/sse.js';
import {WebSocketClientTransport} from '@modelcontextprotocol/sdk/client/websocket.js';
import {ElicitRequestSchema} from '@modelcontextprotocol/sdk/types.js';
import {BIN, checks} from './common.mjs';
import {STDIO, person, story, withBackend, withStory} from './story.mjs';
async function session(transport, label, backend) {
  const client = new Client({name: 'interop', version: '1'}, {capabilities: {elicitation: {form: {}}}});
  const somebody = person();
  client.setRequestHandler(ElicitRequestSchema, async request => somebody.answer(request.params));
  await client.connect(transport);
  await story(`story ts1 ${label}`, backend, client, (name, args, options) => client.callTool({name, arguments: args}, undefined, options), somebody);
  await client.close();
}
await withBackend(async backend => {
  await session(new StdioClientTransport({command: BIN, args: STDIO, env: backend.env, stderr: 'ignore'}), 'stdio', backend);
  await withStory(backend, async port => {
    await session(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)), 'http', backend);
    await session(new SSEClientTransport(new URL(`http://127.0.0.1:${port}/sse`)), 'sse', backend);
    await session(new WebSocketClientTransport(new URL(`ws://127.0.0.1:${port}/ws`)), 'websocket', backend);
  });
});
checks('story ts1').done();
process.exit(0);
