import { writeFileSync } from 'node:fs';
import { schemaPath, schemaText } from './schema.ts';
import { settingsPath, settingsText } from './settings.ts';

writeFileSync(schemaPath, await schemaText());
writeFileSync(settingsPath, await settingsText());
