import { readFileSync, writeFileSync } from 'node:fs';
import type { Mutant } from './mutant.ts';
import type { Tried } from './report.ts';
import type { Verdict } from './workshop.ts';

const path = 'test/mutate/verdicts.json';

/** The last verdict about each placed mutant, by its id. Kept in a file. */
export type Verdicts = ReadonlyMap<string, Verdict>;

export function readVerdicts(): Verdicts {
  return new Map(Object.entries(JSON.parse(readFileSync(path, 'utf8')) as Record<string, Verdict>));
}

/** Keeps verdicts in the order of the mutants, without those about mutants that are gone. */
export function writeVerdicts(verdicts: Verdicts, mutants: readonly Mutant[]): void {
  const kept = mutants.flatMap(({ id }) => {
    const verdict = verdicts.get(id);
    return verdict === undefined ? [] : [[id, verdict] as const];
  });
  writeFileSync(path, `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`);
}

/** Returns each mutant with its last verdict. Pure. */
export function withVerdicts(mutants: readonly Mutant[], verdicts: Verdicts): readonly Tried[] {
  return mutants.map((mutant) => ({ mutant, verdict: verdicts.get(mutant.id) ?? 'not tried' }));
}
