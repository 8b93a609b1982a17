import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writePage } from '../support/write-page.ts';
import { mutants } from './mutants.ts';
import { mutated } from './mutant.ts';
import { report, type Tried } from './report.ts';
import { workshop } from './workshop.ts';

const { values } = parseArgs({
  options: {
    /** Mutants whose ids begin with one of these texts. */
    only: { type: 'string', multiple: true, default: [''] as string[] },
    workers: { type: 'string', default: '2' },
    report: { type: 'string', default: 'test/mutate/report.md' },
  },
});
const chosen = mutants.filter(({ id }) => values.only.some((text) => id.startsWith(text)));
const misplaced = chosen.filter(
  (mutant) => mutated(readFileSync(join('src', mutant.file), 'utf8'), mutant) === undefined,
);
for (const { id, file } of misplaced)
  console.error(`${id}: its text is not exactly once in src/${file}`);
if (misplaced.length > 0 || chosen.length === 0) process.exit(1);

const workshops = Array.from({ length: Number(values.workers) }, workshop);
try {
  if ((await workshops[0]?.tryWhole()) !== 'survived') {
    console.error(
      'the tests fail without a mutant: run `npx vitest run --config test/mutate/vitest.config.ts`',
    );
    process.exitCode = 1;
  } else {
    const tried: Tried[] = [];
    const waiting = [...chosen];
    await Promise.all(
      workshops.map(async (place) => {
        for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
          const verdict = await place.try(mutant);
          tried.push({ mutant, verdict });
          console.log(`${tried.length} of ${chosen.length} ${mutant.id}: ${verdict}`);
        }
      }),
    );
    const inOrder = tried.sort((a, b) => chosen.indexOf(a.mutant) - chosen.indexOf(b.mutant));
    console.log(await writePage(values.report, report(inOrder)));
  }
} finally {
  for (const place of workshops) place.clear();
}
