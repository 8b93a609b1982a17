import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { decisionsIndex, decisionsPage } from './decisions.ts';
import { manFile, manPage } from './man.ts';
import { folder, pages } from './pages.ts';

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of pages()) writeFileSync(join(folder, name), text);
mkdirSync(dirname(manFile), { recursive: true });
writeFileSync(manFile, manPage());
writeFileSync(decisionsIndex, decisionsPage());
