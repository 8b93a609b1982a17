import { describe, expect, it } from 'vitest';
import type { LiveReport } from '../../../../src/pilot-agent/report/agent-view.ts';
import { attention } from '../../../../src/pilot-agent/page/attention.ts';
import { filtered, noFilter, unfiltered } from '../../../../src/pilot-agent/page/log-filter.ts';
import {
  type PageState,
  afterMessage,
  type PageMessage,
  nothing,
} from '../../../../src/pilot-agent/page/page-state.ts';
import { charts } from '../../../../src/pilot-agent/page/traffic-rates.ts';
import type { LiveEvent, TrafficReport } from '../../../../src/pilot-agent/report/live-events.ts';
import { aLife, someLines, firstEvents } from '../../../support/browser/agent-life.ts';

const now = Date.parse('2026-11-22T12:00:00.000Z');
const life = aLife(now);
const heard = (events: readonly LiveEvent[], before: PageState = nothing) =>
  events
    .map((event): PageMessage => ({ type: 'live-event', at: now - 5_000, liveEvent: event }))
    .reduce(afterMessage, before);

describe('what the page knows', () => {
  const all = heard(firstEvents(life));

  it('is what the agent has told, by the clock of the agent', () => {
    expect([all.report?.phase, all.epochs, all.traffic.length, all.log?.length, all.skew]).toEqual([
      'running',
      life.report.epochs,
      540,
      400,
      5_000,
    ]);
  });

  it('is the same after a new connection, which tells all again', () => {
    const away = afterMessage(all, { type: 'away', at: now, reason: 'gone' });
    const again = heard(firstEvents(life), afterMessage(away, { type: 'connected', at: now }));
    expect(again).toEqual({ ...all, link: { kind: 'connected' } });
  });

  it('takes an epoch that has changed in place of what it was', () => {
    const [first] = life.report.epochs;
    const changed = heard(
      [{ event: 'epochs', data: first === undefined ? [] : [{ ...first, state: 'draining' }] }],
      all,
    );
    expect(changed.epochs.map(({ epoch, state }) => `${epoch} ${state}`)).toEqual([
      '0 draining',
      '1 ended',
      '2 ended',
      '3 draining',
      '4 live',
    ]);
  });

  it('begins anew with another agent, whose epochs have the same numbers', () => {
    const [report] = firstEvents({
      ...life,
      report: { ...life.report, agent: { ...life.report.agent, pid: 1 } },
    });
    expect(heard(report === undefined ? [] : [report], all)).toMatchObject({
      epochs: [],
      traffic: [],
      log: undefined,
    });
  });

  it('is away since the first failure, not since the last one', () => {
    const away = (before: PageState, time: number) =>
      afterMessage(before, { type: 'away', at: time, reason: 'gone' });
    expect(away(away(nothing, 1_000), 9_000).link).toEqual({
      kind: 'away',
      reason: 'gone',
      since: 1_000,
    });
  });

  it('has 110,000 lines at most, the newest', () => {
    const lines = Array.from({ length: 13 }, (_, index): LiveEvent => ({
      event: 'log',
      data: someLines(now, 10_000, index * 10_000),
    }));
    const { log = [] } = heard(lines);
    expect([log.length, log.at(-1)?.id]).toEqual([110_000, 129_999]);
  });
});

describe('what needs attention', () => {
  it('is the gravest first', () => {
    expect(
      attention(life.report, life.report.epochs, now).map(
        ({ level, text }) => `${level} ${text.slice(0, 24)}`,
      ),
    ).toEqual([
      'bad The newest configuration',
      'warn Envoy has crashed: 1 of ',
      'warn The source routes cannot',
    ]);
  });

  it('is nothing if all is well', () => {
    const report = Object.fromEntries(
      Object.entries(life.report).filter(([name]) => name !== 'refused'),
    ) as unknown as LiveReport;
    const well = { ...report, crashes: { count: 0, budget: 10 }, sources: [] };
    expect(attention(well, [], now)).toEqual([]);
    const { refused } = life.report;
    const noted = { ...life.report, notes: [`configuration refused: ${refused?.reason ?? ''}`] };
    expect(attention(noted, life.report.epochs, now)).toEqual(
      attention(life.report, life.report.epochs, now),
    ); // the refusal is listed once
    expect(
      attention({ ...well, notes: ['a note'], ready: { ok: false, reason: 'why' } }, [], now).map(
        ({ text }) => text,
      ),
    ).toEqual(['Not ready: why', 'a note']);
  });
});

it('the traffic goes on if the clock of the agent is set back', () => {
  const [first, second, third] = life.traffic;
  if (first === undefined || second === undefined || third === undefined) return expect.fail();
  const event = (...data: readonly TrafficReport[]): LiveEvent => ({ event: 'traffic', data });
  const before = heard([event(first, second, third)]);
  const again = { ...second, active: 7 };
  expect(heard([event(again)], before).traffic).toEqual([first, again]);
  const repeated = event(first, second, third, again);
  expect(heard([event(again), repeated], before).traffic).toEqual([first, again]);
});

describe('the filter of the log', () => {
  const lines = (count: number) => heard([{ event: 'log', data: someLines(now, count) }]).log ?? [];

  it.each([
    [{ ...noFilter, level: 'warn' as const }, 12, 4],
    [{ ...noFilter, component: 'envoy' }, 12, 4],
    [{ ...noFilter, epoch: 3 }, 12, 1],
    [{ ...noFilter, text: 'CRASHED the' }, 12, 2],
    [{ ...noFilter, text: 'part-7.pem' }, 12, 1],
  ])('lets through what passes %o', (filter, count, passed) => {
    expect(filtered(unfiltered, lines(count), filter).lines).toHaveLength(passed);
  });

  it('comes to the same whether lines come at once or one after another', () => {
    const filter = { ...noFilter, level: 'warn' as const };
    const log = lines(60);
    const bit = [10, 11, 40, 60].reduce(
      (before, count) => filtered(before, log.slice(0, count), filter),
      unfiltered,
    );
    expect(bit.lines).toEqual(filtered(unfiltered, log, filter).lines);
    expect(filtered(bit, log.slice(30), filter).lines).toEqual(
      bit.lines.filter(({ id }) => id >= 30),
    );
  });

  it('shows nothing of the log of an earlier agent', () => {
    const [earlier, later] = [lines(41), lines(60)];
    const shown = filtered(unfiltered, earlier, noFilter);
    expect(filtered(shown, later, noFilter).lines).toEqual(later);
    expect(filtered(shown, later, noFilter).lines.every((line) => later.includes(line))).toBe(true);
    expect(filtered(shown, [], noFilter).lines).toEqual([]);
  });
});

describe('the charts', () => {
  const timeAt = (second: number) => new Date(now + second * 1_000).toISOString();
  const look = (second: number, requests: number, epoch = 0, pid = 7) => ({
    at: timeAt(second),
    requests,
    failures: 0,
    connections: 1,
    active: 0,
    byEpoch: [{ epoch, requests, failures: 0 }],
    processes: [
      { what: 'envoy' as const, epoch, pid, residentBytes: 1_000, cpuSeconds: second / 4 },
    ],
  });
  const values = (looks: readonly ReturnType<typeof look>[]) =>
    charts(looks, 0).requests.map(({ points }) => points.map(({ value }) => value));

  it('have what was counted between two looks, per second', () => {
    expect(values([look(0, 10), look(1, 30), look(3, 50)])).toEqual([[20, 10]]);
    expect(charts([look(0, 0), look(2, 0)], 0).cpu[0]?.points.map(({ value }) => value)).toEqual([
      25,
    ]);
  });

  it('have a gap where nobody has looked, and never less than nothing', () => {
    expect(values([look(0, 10), look(60, 900), look(61, 5)])).toEqual([[undefined, 0]]);
  });

  it('do not add up the time of two processes', () => {
    expect(
      charts([look(0, 0), look(1, 0, 0, 8)], 0).cpu[0]?.points.map(({ value }) => value),
    ).toEqual([undefined]);
  });
});
