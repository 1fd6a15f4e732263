// A mapping and a resource that change while TypeScript clients are connected. usage: changes.mjs 1|2 [auto|legacy|2026-07-28]
// (1 = SDK v1, 2 = SDK v2)
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {BIN, checks, freePort, open} from './common.mjs';
import {withBackend} from './story.mjs';
const [version, mode] = process.argv.slice(2);
const here = process.env.REST_MCP_INTEROP, BOARD = 'story://board';
const OLD = '  count:\n    operation: count', NEW = '  count_up:\n    operation: count';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'changes-'));
const file = path.join(folder, 'story.yaml'), settings = path.join(folder, 'rest-mcp.yaml');
for (const name of ['story.yaml', 'story.openapi.yaml']) fs.copyFileSync(path.join(here, name), path.join(folder, name));
fs.writeFileSync(settings, 'version: 1\nmappings: [story.yaml]\ntransports: { sse: /sse, websocket: /ws }\nsubscriptions: { every: 50ms }\n');
function turn() {
  const text = fs.readFileSync(file, 'utf8'), fresh = text.includes(OLD);
  fs.writeFileSync(file, fresh ? text.replace(OLD, NEW) : text.replace(NEW, OLD));
  return fresh ? ['count_up', 'count'] : ['count', 'count_up'];
}
// What was heard, one waiter at a time.
const hearing = () => {
  const kept = [], waiting = [];
  return {
    put: one => waiting.length ? waiting.shift()(one) : kept.push(one),
    next: () => Promise.race([
      kept.length ? Promise.resolve(kept.shift()) : new Promise(resolve => waiting.push(resolve)),
      new Promise(resolve => setTimeout(resolve, 20000, 'nothing was heard').unref()),
    ]),
  };
};
let number = 0;
async function story(label, backend, client, lists, updates, modern) {
  const c = checks(label);
  const names = async () => (await client.listTools()).tools.map(tool => tool.name);
  await names();
  const subscription = modern ? await client.listen({toolsListChanged: true, resourceSubscriptions: [BOARD]}) : await client.subscribeResource({uri: BOARD});
  // A stream for notifications is opened beside the session.
  await new Promise(resolve => setTimeout(resolve, 300));
  const [now, before] = turn();
  c.same('hears that the tools changed', await lists.next(), 'tools');
  const listed = await names();
  c.same('lists the new name', [listed.includes(now), listed.includes(before)], [true, false]);
  const text = `${label} ${number++}`;
  await fetch(`${backend.env.INTEROP_BACKEND}/board`, {method: 'PUT', body: text});
  c.same('hears that the resource changed', await updates.next(), BOARD);
  c.same('reads the new text', (await client.readResource({uri: BOARD})).contents[0].text, text);
  if (modern) await subscription.close();
}
async function transports(backend, session, legacy) {
  const {stdio, http, sse, socket} = await kinds();
  await session(new stdio({command: BIN, args: ['serve', '--config', settings, '--stdio'], env: backend.env, stderr: 'ignore'}), 'stdio');
  const port = await freePort();
  const child = spawn(BIN, ['serve', '--config', settings, '--listen', `127.0.0.1:${port}`], {stdio: 'ignore', env: backend.env});
  try {
    for (let i = 0; i < 400 && !(await open(port)); i++) await new Promise(resolve => setTimeout(resolve, 25));
    await session(new http(new URL(`http://127.0.0.1:${port}/mcp`)), 'http');
    if (legacy) await session(new sse(new URL(`http://127.0.0.1:${port}/sse`)), 'sse');
    if (socket) await session(new socket(new URL(`ws://127.0.0.1:${port}/ws`)), 'websocket');
  } finally { child.kill(); }
}
async function kinds() {
  if (version === '2') {
    const main = await import('@modelcontextprotocol/client');
    return {stdio: (await import('@modelcontextprotocol/client/stdio')).StdioClientTransport, http: main.StreamableHTTPClientTransport, sse: main.SSEClientTransport};
  }
  const base = '@modelcontextprotocol/sdk/client';
  return {
    stdio: (await import(`${base}/stdio.js`)).StdioClientTransport,
    http: (await import(`${base}/streamableHttp.js`)).StreamableHTTPClientTransport,
    sse: (await import(`${base}/sse.js`)).SSEClientTransport,
    socket: (await import(`${base}/websocket.js`)).WebSocketClientTransport,
  };
}
const legacy = version === '1' || mode === 'legacy';
const {Client} = await import(version === '2' ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client/index.js');
const types = version === '1' ? await import('@modelcontextprotocol/sdk/types.js') : undefined;
const label = `changes ts${version}${mode ? ` ${mode}` : ''}`;
await withBackend(backend => transports(backend, async (transport, kind) => {
  const [lists, updates] = [hearing(), hearing()];
  const client = new Client({name: 'interop', version: '1'}, version === '2' ? {versionNegotiation: {mode: mode === 'legacy' || mode === 'auto' ? mode : {pin: mode}}} : {});
  const on = (method, schema, run) => client.setNotificationHandler(version === '1' ? types[schema] : method, run);
  on('notifications/tools/list_changed', 'ToolListChangedNotificationSchema', () => lists.put('tools'));
  on('notifications/resources/updated', 'ResourceUpdatedNotificationSchema', one => updates.put(one.params.uri));
  await client.connect(transport);
  await story(`${label} ${kind}`, backend, client, lists, updates, !legacy);
  await client.close();
}, legacy));
fs.rmSync(folder, {recursive: true});
checks(label).done();
process.exit(0);
