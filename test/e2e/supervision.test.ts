import { describe, expect, it } from 'vitest';
import { parts } from '../../src/run/part.ts';
import { idle, type MomentName, moments } from './support/part-moments.ts';

const names = Object.keys(moments) as readonly MomentName[];
const rows = names.flatMap((moment) => parts.map((part) => [part, moment] as const));

/** What is begun last is cleared away first. */
async function clearedAfter<T>(run: (clear: (action: () => unknown) => void) => Promise<T>): Promise<T> {
  const actions: (() => unknown)[] = [];
  try {
    return await run((action) => void actions.unshift(action));
  } finally {
    for (const action of actions) await action();
  }
}

describe.concurrent('a part that fails is told, counted and started again, and no request is lost', () => {
  it.each(rows)('%s %s', { timeout: 60_000 }, (part, moment) =>
    clearedAfter(async (clear) => {
      const agent = await moments[moment](part, clear);
      expect(await agent.exit, agent.errors()).toEqual({ code: 0, signal: null });
      const failures = agent.log().filter(({ level }) => level === 'error');
      const told = { event: 'part.failed', part, reason: expect.stringContaining('injected') as string };
      expect(failures).toEqual(idle[part]?.[moment] === undefined ? [expect.objectContaining(told)] : []);
    }),
  );
});
