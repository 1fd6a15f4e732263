// Prism's mock server, with errors on, for one document after the other: a line {"file", "lean"} on stdin gives a line
// {"port"} or {"error"}. It is what `prism mock --errors FILE` starts, without a start of Node for each document.
// Answers are not held against the document: its own examples seldom pass, and the request is what is judged.
//
// `lean`: Prism expands every reference into a tree, which for documents whose answers refer to one another without end
// takes hours. Such a document is given without the schemas of its answers, and without the components that only those use.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
const require = createRequire(process.env.REST_MCP_CORPUS_TOOLS + '/package.json');
const { getHttpOperationsFromSpec } = require('@stoplight/prism-http');
const { createServer } = require('@stoplight/prism-http-server');
const { createLogger } = require('@stoplight/prism-core');
const RefParser = require('@stoplight/json-schema-ref-parser');
const config = {
  validateRequest: true,
  validateResponse: false,
  checkSecurity: true,
  errors: true,
  upstreamProxy: undefined,
  isProxy: false,
  mock: { dynamic: false, ignoreExamples: false, seed: undefined },
};
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

function references(node, found = new Set()) {
  if (Array.isArray(node)) for (const item of node) references(item, found);
  else if (node && typeof node === 'object') {
    if (typeof node.$ref === 'string') found.add(node.$ref);
    for (const value of Object.values(node)) references(value, found);
  }
  return found;
}

function rename(node, change) {
  if (Array.isArray(node)) for (const item of node) rename(item, change);
  else if (node && typeof node === 'object') {
    if (typeof node.$ref === 'string') node.$ref = change(node.$ref);
    for (const value of Object.values(node)) rename(value, change);
  }
}

const at = pointer => pointer.slice(2).split('/').map(it => decodeURIComponent(it).replaceAll('~1', '/').replaceAll('~0', '~'));
const lead = (document, pointer) =>
  at(pointer).reduce((node, step) => (node?.[step] === undefined && typeof node?.$ref === 'string' ? lead(document, node.$ref) : node)?.[step], document);

// Examples may hold a `$ref` that is none.
function dropExamples(node, named = false) {
  if (Array.isArray(node)) for (const item of node) dropExamples(item);
  else if (node && typeof node === 'object') {
    if (!named) for (const key of ['example', 'examples', 'x-examples']) delete node[key];
    for (const [key, value] of Object.entries(node)) dropExamples(value, !named && ['properties', 'schemas', 'definitions'].includes(key));
  }
}

// What is left of an operation's answers: the success with its examples, without schemas.
function success(document, declared) {
  const whole = node => (typeof node?.$ref === 'string' && node.$ref.startsWith('#/') ? lead(document, node.$ref) : node);
  const [status, found] = Object.entries(declared ?? {}).find(([code]) => code.startsWith('2')) ?? [200, {}];
  const answer = whole(found);
  const kept = { description: 'OK' };
  const plain = value => value !== undefined && references(value).size === 0;
  if (document.swagger) {
    if (plain(answer?.examples)) kept.examples = answer.examples;
  } else {
    for (const [type, media] of Object.entries(answer?.content ?? {})) {
      const example = media?.example ?? whole(Object.values(media?.examples ?? {})[0])?.value;
      if (plain(example)) (kept.content ??= {})[type] = { example };
    }
  }
  return { [status]: kept };
}

// The document without the schemas of answers, callbacks, and what nothing refers to any more.
async function withoutAnswers(file) {
  let document = await new RefParser().parse(file);
  const answers = new Map();
  for (const [name, path] of Object.entries(document.paths ?? {}))
    for (const method of METHODS) if (path?.[method]) answers.set(`${method} ${name}`, success(document, path[method].responses));
  dropExamples(document);
  if ([...references(document)].some(it => !it.startsWith('#'))) {
    document = await new RefParser().bundle(file);
    dropExamples(document);
  }
  const moved = ((document.components ??= {})['x-moved'] = {});
  rename(document, pointer => {
    if (!pointer.startsWith('#/paths/')) return pointer;
    const name = pointer.replace(/[^A-Za-z0-9]+/g, '_');
    moved[name] ??= lead(document, pointer);
    return `#/components/x-moved/${name}`;
  });
  for (const [name, path] of Object.entries(document.paths ?? {}))
    for (const method of METHODS) {
      if (!path?.[method]) continue;
      path[method].responses = answers.get(`${method} ${name}`) ?? { 200: { description: 'OK' } };
      delete path[method].callbacks;
    }
  const { components, definitions, responses, ...kept } = document;
  delete kept.webhooks;
  const open = [...references(kept)];
  const seen = new Set(open);
  while (open.length) {
    const steps = at(open.pop());
    if (!['components', 'definitions'].includes(steps[0])) continue;
    const depth = steps[0] === 'components' ? 3 : 2;
    let from = document;
    let to = kept;
    for (const [i, step] of steps.slice(0, depth).entries()) {
      from = from?.[step];
      if (from === undefined) break;
      if (i + 1 === depth) to[step] = from;
      else to = to[step] ??= {};
    }
    for (const it of references(from)) if (!seen.has(it)) seen.add(it) && open.push(it);
  }
  if (components?.securitySchemes) (kept.components ??= {}).securitySchemes = components.securitySchemes;
  return kept;
}

process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
for await (const line of createInterface({ input: process.stdin })) {
  try {
    const { file, lean } = JSON.parse(line);
    const operations = await getHttpOperationsFromSpec(lean ? await withoutAnswers(file) : file);
    if (operations.length === 0) throw new Error('no operations');
    const server = createServer(operations, { cors: false, config, components: { logger: createLogger('PRISM', { level: 'silent' }) } });
    const address = await server.listen(0, '127.0.0.1');
    console.log(JSON.stringify({ port: Number(address.split(':').pop()), operations: operations.length }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error && error.message).slice(0, 300) }));
  }
}
process.exit(0);
