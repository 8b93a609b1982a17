import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writePage } from '../support/write-page.ts';
import { drawMutants } from './draw-mutants.ts';
import { mutants } from './mutants.ts';
import { type Mutant, mutated } from './mutant.ts';
import { report, type Tried } from './report.ts';
import { readVerdicts, withVerdicts, writeVerdicts } from './verdicts.ts';
import { workshop } from './workshop.ts';

const { values } = parseArgs({
  options: {
    /** Takes only mutants whose ids, or files if they are drawn, begin with one of these texts. */
    only: { type: 'string', multiple: true, default: [''] as string[] },
    /** Takes only placed mutants without a verdict in `test/mutate/verdicts.json`. */
    untried: { type: 'boolean', default: false },
    /**
     * The number of mutants that are drawn from all mistakes of one word; 0 takes the placed ones.
     */
    drawn: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    report: { type: 'string' },
  },
});
const isChosen = (text: string) => values.only.some((start) => text.startsWith(start));
const isDrawn = Number(values.drawn) > 0;

const judged = readVerdicts();
const chosen: readonly Mutant[] = isDrawn
  ? drawMutants(isChosen, Number(values.drawn), Number(values.seed))
  : mutants.filter(({ id }) => isChosen(id) && !(values.untried && judged.has(id)));
const [page, ...heading] = isDrawn
  ? [
      'test/mutate/drawn.md',
      '# Drawn mutants',
      '',
      `Made by \`npm run mutate -- --drawn ${values.drawn} --seed ${values.seed} ${values.only.map((start) => `--only ${start}`).join(' ')}\`:`,
      'each is one mistake of one word, in any module of these folders.',
    ]
  : [
      'test/mutate/report.md',
      '# Mutants',
      '',
      'Made by `npm run mutate`, from the last verdict about each mutant (`verdicts.json`).',
    ];
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
          if (!isDrawn) writeVerdicts(new Map([...readVerdicts(), [mutant.id, verdict]]), mutants);
          console.log(`${tried.length} of ${chosen.length} ${mutant.id}: ${verdict}`);
        }
      }),
    );
    const reported = isDrawn
      ? tried.sort((a, b) => chosen.indexOf(a.mutant) - chosen.indexOf(b.mutant))
      : withVerdicts(mutants, readVerdicts());
    console.log(await writePage(values.report ?? page, report(heading, reported)));
  }
} finally {
  for (const place of workshops) place.clear();
}
