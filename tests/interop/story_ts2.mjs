// TypeScript SDK v2 drives the story. usage: story_ts2.mjs auto|legacy|2026-07-28
import {Client, StreamableHTTPClientTransport, SSEClientTransport} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {BIN, checks} from './common.mjs';
import {STDIO, person, story, withBackend, withStory} from './story.mjs';
const mode = process.argv[2];
async function session(transport, label, backend) {
  const client = new Client({name: 'interop', version: '1'}, {
    capabilities: {elicitation: {form: {}}},
    versionNegotiation: {mode: mode === 'legacy' || mode === 'auto' ? mode : {pin: mode}},
  });
  const somebody = person();
  client.setRequestHandler('elicitation/create', async request => somebody.answer(request.params));
  await client.connect(transport);
  await story(`story ts2 ${mode} ${label}`, backend, client, (name, args, options) => client.callTool({name, arguments: args}, options), somebody);
  await client.close();
}
await withBackend(async backend => {
  await session(new StdioClientTransport({command: BIN, args: STDIO, env: backend.env, stderr: 'ignore'}), 'stdio', backend);
  await withStory(backend, async port => {
    await session(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)), 'http', backend);
    if (mode === 'legacy') await session(new SSEClientTransport(new URL(`http://127.0.0.1:${port}/sse`)), 'sse', backend);
  });
});
checks(`story ts2 ${mode}`).done();
process.exit(0);
