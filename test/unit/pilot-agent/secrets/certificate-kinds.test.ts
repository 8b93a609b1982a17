import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deviations } from '../../../certificates/deviations.ts';
import { certificateKinds } from '../../../certificates/kinds.ts';
import { ownVerdict } from '../../../certificates/own-verdicts.ts';
import { columns, type Verdicts } from '../../../certificates/report.ts';

const now = Date.now();
const kinds = certificateKinds(now);
const verdicts = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../certificates/verdicts.json'), 'utf8'),
) as Verdicts;

describe('the verdict of the agent on a kind of certificate file', () => {
  it('is compared with that of a real Envoy for each kind', () => {
    expect(Object.keys(verdicts)).toEqual(kinds.map(({ name }) => name));
    expect(kinds.length).toBeGreaterThan(40);
  });

  it.each(kinds.map((kind) => [kind.name, kind] as const))(
    'is that of Envoy, or differs as is named: %s',
    (name, kind) => {
      const agentVerdict = ownVerdict(kind, now);
      const named = deviations.find((deviation) => deviation.kind === name)?.ways ?? [];
      const differing = columns.filter(
        ({ way, part }) =>
          (agentVerdict[way][part] === '') !== (verdicts[name]?.[way][part] === ''),
      );
      expect([...new Set(differing.map(({ way }) => way))]).toEqual(named);
    },
  );

  it('is the same of what Envoy reads and of what it is pushed', () => {
    const differing = Object.entries(verdicts).filter(([, { restart, push }]) =>
      (['pair', 'roots'] as const).some((part) => (restart[part] === '') !== (push[part] === '')),
    );
    expect(differing).toEqual([]);
  });
});
