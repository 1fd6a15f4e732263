// TypeScript SDK v1.
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {SSEClientTransport} from '@modelcontextprotocol/sdk/client/sse.js';
import {BIN, SERVE, checks, story, withServer} from './common.mjs';
async function session(transport, label) {
  const c = checks(`ts1 ${label}`);
  const client = new Client({name: 'interop', version: '1'});
  await client.connect(transport);
  await story(client, c);
  await client.close();
}
await session(new StdioClientTransport({command: BIN, args: [...SERVE, '--stdio'], stderr: 'ignore'}), 'stdio');
await withServer(async port => {
  await session(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)), 'http');
  await session(new SSEClientTransport(new URL(`http://127.0.0.1:${port}/sse`)), 'sse');
});
checks('ts1').done();
process.exit(0);
