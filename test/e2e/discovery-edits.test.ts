import { describe, expect, it } from 'vitest';
import { allowed } from '../edits/allowed.ts';
import { changesOf, firstState, plan, type Target } from '../edits/plan.ts';
import { runEdits } from '../edits/run-edits.ts';

it('edits under load change only the answers that each of them names (14 edits of seed 4)', async () => {
  const { violations, requests, byStatus } = await runEdits({ seed: 4, edits: 14 });
  expect(violations).toEqual([]);
  expect(requests).toBeGreaterThan(200);
  expect(byStatus['0']).toBeUndefined();
});

const first = (seed: number, count: number) => {
  const edits = plan(seed);
  return Array.from({ length: count }, () => edits.next().value);
};

describe('a seed of edits', () => {
  it('stands for the same edits each time, and another one for others', () => {
    expect(first(4, 50)).toEqual(first(4, 50));
    expect(first(4, 50)).not.toEqual(first(5, 50));
  });

  it('names what an edit may change, and nothing else', () => {
    const { a } = firstState.hosts;
    const hidden = { ...firstState, hosts: { ...firstState.hosts, a: { ...a, exported: false } } };
    expect(changesOf(firstState, hidden)).toEqual([
      { target: 'sidecar a.mesh', before: 200, after: 502 },
    ]);
    expect(changesOf(firstState, { ...firstState, renamed: 1 })).toEqual([]);
  });
});

describe('the answers that edits explain', () => {
  const target: Target = 'sidecar a.mesh';

  it('are the one before and the one after, until it is in effect and a grace has passed', () => {
    let time = 0;
    const explained = allowed(new Map([[target, 200]]), () => time);
    const explains = (status: number, since = time) => explained.explains(target, status, since);
    expect([explains(200), explains(502), explains(503)]).toEqual([true, false, false]);
    explained.mayBecome(target, 502);
    expect([explains(200), explains(502), explains(503)]).toEqual([true, true, false]);
    time = 100;
    explained.has(target, 502, 50);
    time = 149;
    expect([explains(200), explains(502)]).toEqual([true, true]);
    time = 151;
    expect([explains(200), explains(502)]).toEqual([false, true]);
    // A connection that was opened earlier may still have the configuration of that time.
    expect(explains(200, 120)).toBe(true);
  });

  it('are those of both edits if a status comes back', () => {
    let time = 0;
    const explained = allowed(new Map([[target, 200]]), () => time);
    explained.mayBecome(target, 502);
    explained.has(target, 502, 50);
    explained.mayBecome(target, 200);
    explained.has(target, 200, 50);
    time = 100;
    expect(explained.explains(target, 200, 100)).toBe(true);
    expect(explained.explains(target, 502, 100)).toBe(false);
  });
});
