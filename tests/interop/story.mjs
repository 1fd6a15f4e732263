// The story of `story.py` for the TypeScript clients: exact texts and bytes, progress, questions, cancellation.
import {spawn} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import path from 'node:path';
import {BIN, checks, freePort, open} from './common.mjs';
const here = process.env.REST_MCP_INTEROP ?? path.dirname(fileURLToPath(import.meta.url));
const TEXT = 'na\u00efve \u2602 "quoted" back\\slash\ntwo\tlines & <tags> \u{1f701} 100% +';
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
export const STDIO = ['serve', `${here}/story.yaml`, '--stdio'];
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));
async function running(command, args, port, env, run) {
  const child = spawn(command, args, {stdio: 'ignore', env});
  try {
    for (let i = 0; i < 400 && !(await open(port)); i++) await pause(25);
    return await run(port);
  } finally { child.kill(); }
}
export async function withBackend(run) {
  const port = await freePort();
  const env = {...process.env, INTEROP_BACKEND: `http://127.0.0.1:${port}`};
  const counts = async () => (await fetch(`http://127.0.0.1:${port}/counts`)).json();
  const until = async (name, wanted) => {
    for (let i = 0; i < 500; i++) { if ((await counts())[name] >= wanted) return true; await pause(20); }
    return false;
  };
  await running('python3', [`${here}/backend.py`, `${port}`], port, env, () => run({env, counts, until}));
}
export async function withStory(backend, run) {
  const port = await freePort();
  await running(BIN, ['serve', `${here}/story.yaml`, '--listen', `127.0.0.1:${port}`], port, backend.env, run);
}
// `call(name, args, {onprogress, signal})` is the client's own; `person` is asked by its handler.
export async function story(label, backend, client, call, person) {
  const c = checks(label);
  // Read off the transport: these clients forget a call's `onprogress` as soon as its answer lies in the same chunk.
  let steps = [];
  const {transport} = client, inner = transport.onmessage;
  transport.onmessage = (message, extra) => {
    if (message.method === 'notifications/progress') steps.push([message.params.progress, message.params.total]);
    return inner(message, extra);
  };
  const onprogress = () => {};
  const text = r => r.content[0].text;
  c.same('text is exact', (await call('echo', {text: TEXT})).content, [{type: 'text', text: TEXT}]);
  const image = (await call('pixel', {})).content[0];
  c.same('image bytes are exact', [image.mimeType, image.data], ['image/png', PIXEL]);
  let read = (await client.readResource({uri: 'story://pixel'})).contents[0];
  c.same('resource bytes are exact', [read.mimeType, read.blob], ['image/png', PIXEL]);
  read = (await client.readResource({uri: 'story://echo/a%20b%26c'})).contents[0];
  c.same('resource template', [read.mimeType, read.text], ['text/plain', 'a b&c']);
  const prompt = await client.getPrompt({name: 'greet', arguments: {name: 'Ann & Bo'}});
  c.same('prompt', prompt.messages[0].content.text, 'Greet Ann & Bo.');
  let r = await call('count', {to: 5}, {onprogress});
  c.same('progress of a stream', steps, [[1, 5], [2, 5], [3, 5], [4, 5], [5, 5]]);
  c.same('result of a stream', JSON.parse(text(r)), {sum: 15});
  steps = [];
  r = await call('job', {name: 'long'}, {onprogress});
  c.same('progress of a job', steps, [[0, 1], [0.5, 1], [1, 1]]);
  c.same('result of a job', [JSON.parse(text(r)).name, JSON.parse(text(r)).state], ['long', 'done']);
  const before = await backend.counts();
  person.says('accept', {email: 'ann@example.org'});
  r = await call('order', {item: 'book'});
  c.same('accepted form', JSON.parse(text(r)), {placed: {item: 'book', email: 'ann@example.org'}});
  c.same('the question', person.asked, ['Who gets book?']);
  person.says('decline');
  c.same('declined form', text(await call('order', {item: 'book'})), 'Not done: the person declined to answer.');
  person.says('cancel');
  c.same('cancelled confirmation', text(await call('delete_thing', {id: 3})), 'Not done: the person cancelled.');
  person.says('accept', {});
  c.same('accepted confirmation', text(await call('delete_thing', {id: 3})), 'OK (204 No Content)');
  const after = await backend.counts();
  c.same('one order, one deletion', [after.ordered - before.ordered, after.deleted - before.deleted], [1, 1]);
  const stop = new AbortController();
  const slow = call('slow', {}, {signal: stop.signal}).catch(() => 'stopped');
  await backend.until('slow_started', before.slow_started + 1);
  stop.abort('interop');
  c.same('the call was stopped', await slow, 'stopped');
  c.same('a cancelled call stops upstream', await backend.until('slow_gone', before.slow_gone + 1), true);
  c.same('works after a cancellation', text(await call('echo', {text: 'still here'})), 'still here');
}
export const person = () => ({
  asked: [], action: 'accept', content: undefined,
  says(action, content) { this.asked.length = 0; this.action = action; this.content = content; },
  answer(params) { this.asked.push(params.message); return this.content === undefined ? {action: this.action} : {action: this.action, content: this.content}; },
});
