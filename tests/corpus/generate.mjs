// Values for schemas, made by json-schema-faker: a line {"schema", "seed", "count", "first"} on stdin gives {"values"} or {"error"}.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
const require = createRequire(process.env.REST_MCP_CORPUS_TOOLS + '/package.json');
const { JSONSchemaFaker: faker } = require('json-schema-faker');
faker.format('byte', () => 'aGVsbG8=');
let seed = 1;
const random = () => {
  // Mulberry32: the same values in every run.
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};
const modes = [
  { alwaysFakeOptionals: false, optionalsProbability: 0, useExamplesValue: false },
  { alwaysFakeOptionals: false, optionalsProbability: 0.4, useExamplesValue: true },
  { alwaysFakeOptionals: false, optionalsProbability: 0.8, useExamplesValue: false },
  { alwaysFakeOptionals: true, optionalsProbability: 1, useExamplesValue: true },
];
for await (const line of createInterface({ input: process.stdin })) {
  const { schema, seed: start, count, first } = JSON.parse(line);
  const values = [];
  let failed = '';
  for (let i = 0; i < count; i++) {
    seed = start + i;
    faker.option({
      ...modes[(first + i) % modes.length], random, maxItems: 3, minItems: 0, failOnInvalidTypes: false, failOnInvalidFormat: false,
      fillProperties: false, refDepthMax: 3, refDepthMin: 0, ignoreMissingRefs: true, useDefaultValue: false, fixedProbabilities: false, omitNulls: false,
    });
    try {
      values.push(faker.generate(structuredClone(schema)));
    } catch (error) {
      failed = String(error && error.message).slice(0, 200);
    }
  }
  console.log(JSON.stringify({ values, error: failed }));
}
