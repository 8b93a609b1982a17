import { writeFileSync } from 'node:fs';
import { schemaPath, schemaText } from './schema.ts';

writeFileSync(schemaPath, await schemaText());
