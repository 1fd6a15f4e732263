// TypeScript SDK v2 drives every form of the mapping language. usage: language_ts2.mjs auto|legacy|2026-07-28
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {isDeepStrictEqual} from 'node:util';
import {Client} from '@modelcontextprotocol/client';
import {StdioClientTransport} from '@modelcontextprotocol/client/stdio';
import {BIN, checks, freePort, open} from './common.mjs';
const mode = process.argv[2], here = process.env.REST_MCP_INTEROP;
const {runs} = JSON.parse(readFileSync(`${here}/language.json`, 'utf8'));
const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);
// `$name` is what an earlier case saved.
const filled = (value, saved) => isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, saved)]))
  : typeof value === 'string' && value.startsWith('$') ? saved[value.slice(1)] : value;
// As in language.py.
function wanted(item, version) {
  if (item.names) return {names: item.names};
  const expect = {...item.expect};
  if (item.list) expect.structuredContent = version >= '2026' ? item.list : {result: item.list};
  if (item.call && !('isError' in expect)) expect.isError = null;
  return expect;
}
// `~text`: contains it; null at the top: is not there; `...` in an object: may have other members too.
function differences(expect, got, at = '', top = true) {
  if (isObject(expect) && isObject(got)) {
    const found = [];
    for (const [key, one] of Object.entries(expect)) {
      if (key === '...') continue;
      if (top && one === null) { if (got[key]) found.push(`${key} is there`); }
      else if (!(key in got)) found.push(`${at}.${key} is missing in ${JSON.stringify(got)}`);
      else found.push(...differences(one, got[key], `${at}.${key}`, false));
    }
    if (!top && !('...' in expect)) for (const key of Object.keys(got)) if (!(key in expect)) found.push(`${at}.${key} is too much`);
    return found;
  }
  if (Array.isArray(expect) && Array.isArray(got) && expect.length === got.length)
    return expect.flatMap((one, index) => differences(one, got[index], `${at}[${index}]`, false));
  if (typeof expect === 'string' && expect.startsWith('~') && typeof got === 'string' && got.includes(expect.slice(1))) return [];
  return isDeepStrictEqual(expect, got) ? [] : [`${at}: wanted ${JSON.stringify(expect)}, got ${JSON.stringify(got)}`];
}
async function once(client, item, saved) {
  const args = filled(item.args ?? {}, saved);
  if (item.call) return client.callTool({name: item.call, arguments: args});
  if (item.read) return client.readResource({uri: filled(item.read, saved)});
  if (item.prompt) return client.getPrompt({name: item.prompt, arguments: args});
  if (item.complete) return client.complete({ref: {type: 'ref/prompt', name: item.complete}, argument: {name: item.argument, value: item.typed}});
  const {tools} = await client.listTools();
  return item.names ? {names: tools.map(tool => tool.name)} : tools.find(tool => tool.name === item.tool);
}
for (const run of runs) {
  const c = checks(`language ts2 ${mode} ${run.mapping}`), port = await freePort();
  const api = spawn('python3', [`${here}/language_api.py`, `${port}`], {stdio: 'ignore'});
  for (let i = 0; i < 400 && !(await open(port)); i++) await new Promise(resolve => setTimeout(resolve, 25));
  const requests = async () => (await fetch(`http://127.0.0.1:${port}/log`)).json();
  let says = {}, asked = [];
  const capabilities = {elicitation: {form: {}}, sampling: {}, roots: {}};
  const client = new Client({name: 'interop', version: '1'}, {capabilities, versionNegotiation: {mode: mode === 'legacy' || mode === 'auto' ? mode : {pin: mode}}});
  // The client's side: what a case says, and what was asked.
  client.setRequestHandler('elicitation/create', async ({params}) => {
    asked.push(params.message);
    return says.decline ? {action: 'decline'} : {action: 'accept', content: says.elicit};
  });
  client.setRequestHandler('sampling/createMessage', async ({params}) => {
    asked.push([params.messages[0].content].flat()[0].text);
    return {role: 'assistant', model: 'interop', content: {type: 'text', text: says.sample}};
  });
  client.setRequestHandler('roots/list', async () => { asked.push('roots'); return {roots: says.roots.map(uri => ({uri}))}; });
  const env = {...process.env, INTEROP_BACKEND: `http://127.0.0.1:${port}`};
  await client.connect(new StdioClientTransport({command: BIN, args: ['serve', `${here}/${run.mapping}`, '--stdio'], env, stderr: 'ignore'}));
  const version = mode === 'legacy' ? '2025-11-25' : '2026-07-28', saved = {};
  for (const item of run.cases) {
    await requests();
    says = item.client ?? {}, asked = [];
    const got = await once(client, item, saved).catch(error => ({refused: String(error)}));
    const found = differences(wanted(item, version), got);
    const seen = await requests(), order = all => item.unordered ? all.map(one => JSON.stringify(one)).sort() : all;
    if (item.upstream && !isDeepStrictEqual(order(seen), order(item.upstream))) found.push(`sent ${JSON.stringify(seen)}`);
    if (item.asked && !isDeepStrictEqual(asked.toSorted(), item.asked.toSorted())) found.push(`asked ${JSON.stringify(asked)}`);
    for (const [name, path] of Object.entries(item.save ?? {})) saved[name] = path.reduce((value, key) => value?.[key], got);
    c.same(item.name, found, []);
  }
  await client.close();
  api.kill();
}
checks(`language ts2 ${mode}`).done();
process.exit(0);
