// TypeScript SDK v2. usage: ts2.mjs auto|legacy|2026-07-28
import {Client, StreamableHTTPClientTransport, SSEClientTransport} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {BIN, SERVE, checks, story, withServer} from './common.mjs';
const mode = process.argv[2];
async function session(transport, label) {
  const c = checks(`ts2 ${mode} ${label}`);
  const client = new Client({name: 'interop', version: '1'}, {versionNegotiation: {mode: mode === 'legacy' || mode === 'auto' ? mode : {pin: mode}}});
  await client.connect(transport);
  await story(client, c);
  await client.close();
}
await session(new StdioClientTransport({command: BIN, args: [...SERVE, '--stdio'], stderr: 'ignore'}), 'stdio');
await withServer(async port => {
  await session(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)), 'http');
  if (mode === 'legacy') await session(new SSEClientTransport(new URL(`http://127.0.0.1:${port}/sse`)), 'sse');
});
checks(`ts2 ${mode}`).done();
process.exit(0);
