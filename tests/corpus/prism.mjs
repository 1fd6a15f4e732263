// Prism's mock server, with errors on, for one document after the other: a path on a line of stdin gives a line
// {"port"} or {"error"}. It is what `prism mock --errors FILE` starts, without a start of Node for each document.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
const require = createRequire(process.env.REST_MCP_CORPUS_TOOLS + '/package.json');
const { getHttpOperationsFromSpec } = require('@stoplight/prism-http');
const { createServer } = require('@stoplight/prism-http-server');
const { createLogger } = require('@stoplight/prism-core');
const config = {
  validateRequest: true,
  validateResponse: true,
  checkSecurity: true,
  errors: true,
  upstreamProxy: undefined,
  isProxy: false,
  mock: { dynamic: false, ignoreExamples: false, seed: undefined },
};
process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
let server;
for await (const file of createInterface({ input: process.stdin })) {
  try {
    const operations = await getHttpOperationsFromSpec(file);
    if (operations.length === 0) throw new Error('no operations');
    const next = createServer(operations, { cors: false, config, components: { logger: createLogger('PRISM', { level: 'silent' }) } });
    const address = await next.listen(0, '127.0.0.1');
    server = next;
    console.log(JSON.stringify({ port: Number(address.split(':').pop()), operations: operations.length }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error && error.message).slice(0, 300) }));
  }
}
process.exit(0);
