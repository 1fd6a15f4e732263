// Compiles schemas with Ajv: lines of {"name", "schema"} on stdin, one line {"name", "error"} a failure, then the count.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
const require = createRequire(process.env.REST_MCP_CORPUS_TOOLS + '/package.json');
const Ajv = require('ajv/dist/2020').default;
let ajv;
let compiled = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const { name, schema } = JSON.parse(line);
  if (compiled++ % 200 === 0) ajv = new Ajv({ strict: false, validateFormats: false, logger: false, inlineRefs: false, addUsedSchema: false });
  try {
    ajv.compile(schema);
  } catch (error) {
    console.log(JSON.stringify({ name, error: String(error.message).slice(0, 300) }));
  }
  ajv.removeSchema(schema);
}
console.log(JSON.stringify({ compiled }));
