import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cases, keyOf } from '../../../../verdicts/cases.ts';
import { deviations } from '../../../../verdicts/deviations.ts';
import { ownVerdict } from '../../../../verdicts/own-verdict.ts';
import { isRefused, type Verdicts } from '../../../../verdicts/verdicts.ts';

const folder = join(import.meta.dirname, '../../../../verdicts');
const verdicts = JSON.parse(readFileSync(join(folder, 'verdicts.json'), 'utf8')) as Verdicts;
const named = deviations.flatMap((deviation) => deviation.cases);

/** The verdicts come from a real istiod and a real Kubernetes API, by `npm run verdicts`. */
describe('what pilot-discovery says of a resource', () => {
  it('is compared with what Istio says of each case', () => {
    expect(Object.keys(verdicts)).toEqual(cases.map(keyOf));
    expect(cases.length).toBeGreaterThan(500);
  });

  it('differs only if that is named', () => {
    const differing = cases.flatMap((testCase) => {
      const name = keyOf(testCase);
      const istio = verdicts[name];
      return istio !== undefined && isRefused(istio) === (ownVerdict(testCase).refused !== '')
        ? []
        : [name];
    });
    expect(differing.sort()).toEqual([...named].sort());
  });

  it('names the field and says what is wrong, if it refuses', () => {
    const refusals = cases
      .map((testCase) => ownVerdict(testCase).refused)
      .filter((refused) => refused !== '');
    expect(refusals.filter((refused) => !/^spec.*: \S+ \S+/.test(refused))).toEqual([]);
  });
});
