// What every TypeScript interop script does: start the server, compare exactly, count.
import {spawn} from 'node:child_process';
import net from 'node:net';
import {isDeepStrictEqual} from 'node:util';
export const BIN = process.env.REST_MCP_BIN;
export const SERVE = ['serve', '--mock'];
export const REX = {id: 7, name: 'Rex', status: 'available', tags: ['dog']};
export const TOM = {id: 9, name: 'Tom', status: 'available', tags: ['cat']};
export const TOOLS = ['find_pets', 'addPet', 'get_pet', 'deletePet', 'getPhoto', 'getInventory'];
export const checks = label => ({
  same(what, got, wanted) {
    if (isDeepStrictEqual(got, wanted)) console.log(`ok ${label} ${what}`);
    else console.log(`FAIL ${label} ${what}: got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
  },
  done() { console.log(`done ${label}`); },
});
export const freePort = () => new Promise(resolve => { const s = net.createServer(); s.listen(0, '127.0.0.1', () => { const {port} = s.address(); s.close(() => resolve(port)); }); });
export const open = port => new Promise(resolve => { const s = net.connect(port, '127.0.0.1', () => { s.destroy(); resolve(true); }); s.on('error', () => resolve(false)); });
export async function withServer(run) {
  const port = await freePort();
  const child = spawn(BIN, [...SERVE, '--listen', `127.0.0.1:${port}`], {stdio: 'ignore'});
  try {
    for (let i = 0; i < 400 && !(await open(port)); i++) await new Promise(r => setTimeout(r, 25));
    await run(port);
  } finally { child.kill(); }
}
export async function story(client, c) {
  const tools = await client.listTools();
  c.same('tool names', tools.tools.map(t => t.name), TOOLS);
  let r = await client.callTool({name: 'get_pet', arguments: {id: 7}});
  c.same('get_pet text', JSON.parse(r.content[0].text), REX);
  c.same('get_pet structured', r.structuredContent, REX);
  r = await client.callTool({name: 'addPet', arguments: {name: 'Tom'}});
  c.same('addPet', JSON.parse(r.content[0].text), TOM);
  r = await client.callTool({name: 'deletePet', arguments: {petId: 7}});
  c.same('deletePet', r.content[0].text, 'OK (204 No Content)');
  r = await client.callTool({name: 'getPhoto', arguments: {petId: 7}});
  c.same('getPhoto', [r.content[0].type, r.content[0].mimeType], ['image', 'image/png']);
  r = await client.callTool({name: 'get_pet', arguments: {id: 'seven'}});
  c.same('wrong type is an error', r.isError, true);
}
