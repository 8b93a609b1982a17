import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cases } from './cases.ts';
import { istioVerdicts } from './istio-verdicts.ts';
import { report } from './report.ts';

const verdicts = await istioVerdicts(cases);
writeFileSync(join(import.meta.dirname, 'verdicts.json'), `${JSON.stringify(verdicts, null, 2)}\n`);
writeFileSync(join(import.meta.dirname, 'report.md'), report(verdicts));
