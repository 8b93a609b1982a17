import { mkdirSync, writeFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { jsonSchema } from '../src/config/json-schema.ts';

const path = 'schema/proxy-config.schema.json';
mkdirSync('schema', { recursive: true });
writeFileSync(path, await format(JSON.stringify(jsonSchema()), { ...(await resolveConfig(path)), filepath: path }));
