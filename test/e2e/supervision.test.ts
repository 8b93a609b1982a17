import { describe, expect, it } from 'vitest';
import { parts } from '../../src/pilot-agent/run/state/part.ts';
import { clearedAfter } from '../support/cleared-after.ts';
import { idle, type MomentName, moments } from '../support/e2e/part-moments.ts';

const names = Object.keys(moments) as readonly MomentName[];
const rows = names.flatMap((moment) => parts.map((part) => [part, moment] as const));

describe.concurrent(
  'a part that fails is told, counted and started again, and no request is lost',
  () => {
    it.each(rows)('%s %s', (part, moment) =>
      clearedAfter(async (clear) => {
        const agent = await moments[moment](part, clear);
        expect(await agent.exit, agent.errors()).toEqual({ code: 0, signal: null });
        const failures = agent.log().filter(({ level }) => level === 'error');
        const failure = {
          event: 'part.failed',
          part,
          reason: expect.stringContaining('injected') as string,
        };
        expect(failures).toEqual(
          idle[part]?.[moment] === undefined ? [expect.objectContaining(failure)] : [],
        );
      }),
    );
  },
);
