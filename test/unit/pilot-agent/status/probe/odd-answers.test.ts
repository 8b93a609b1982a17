import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { deviations } from '../../../../probes/deviations.ts';
import { type OwnVerdict, ownVerdicts } from '../../../../probes/own-verdicts.ts';
import { report } from '../../../../probes/report.ts';
import { answers, goVerdicts, reportFile } from '../../../../probes/verdicts.ts';

describe('an odd answer of the application', () => {
  const go = goVerdicts();
  let agentVerdicts: Readonly<Record<string, OwnVerdict>>;
  beforeAll(async () => (agentVerdicts = await ownVerdicts(answers)), 60_000);

  it.each(answers.map(({ name }) => name))(
    'is taken as Go takes it, or the difference has a reason: %s',
    (name) => {
      const named = deviations
        .filter(({ names }) => names.includes(name))
        .flatMap(({ of: ways }) => ways);
      const differs = (['probe', 'scrape'] as const).filter(
        (way) => go[name]?.[way] !== agentVerdicts[name]?.[way],
      );
      expect(differs).toEqual(named);
    },
  );

  it('has a verdict of Go, and a name of its own', () => {
    expect(Object.keys(go).sort()).toEqual(answers.map(({ name }) => name).sort());
    for (const { names } of deviations)
      expect(Object.keys(go)).toEqual(expect.arrayContaining([...names]));
  });

  it.each([
    ['equal Content-Length twice', 'bad_length'],
    ['Content-Length with a comma', 'bad_length'],
    ['a space in a name', 'bad_header'],
    ['a header without a colon', 'bad_header'],
    ['a header of 2 MB', 'large_headers'],
    ['another protocol', 'not_http'],
    ['a status of four digits', 'not_http'],
    ['a body that is cut off', 'cut_off'],
    ['nothing at all', 'unreachable'],
  ])('gives a scrape without rows a reason that says what: %s, %s', (name, reason) => {
    expect(agentVerdicts[name]?.reason).toBe(reason);
  });

  it('has a line in the report (npm run probes)', async () => {
    expect(readFileSync(reportFile, 'utf8')).toBe(await report(go, agentVerdicts));
  });
});
