import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownVerdicts } from './own-verdicts.ts';
import { report } from './report.ts';
import { answers, reportFile, type Verdicts, verdictsFile } from './verdicts.ts';

const judge = spawnSync('go', ['run', '.'], {
  cwd: join(import.meta.dirname, 'judge'),
  input: JSON.stringify(answers),
  encoding: 'utf8',
  maxBuffer: 16 << 20,
});
if (judge.status !== 0) throw new Error(judge.error?.message ?? judge.stderr);
const verdicts = JSON.parse(judge.stdout) as Verdicts;
writeFileSync(verdictsFile, `${JSON.stringify(verdicts, null, 2)}\n`);
writeFileSync(reportFile, await report(verdicts, await ownVerdicts(answers)));
