import { describe, expect, it } from 'vitest';
import { type AgentEvent, type AgentState, initialState } from '../../../src/epochs/model.ts';
import { reducer } from '../../../src/epochs/reducer.ts';
import { noTimeline, timeline, type Timeline } from '../../../src/epochs/timeline.ts';
import {
  lifecycleFamilies,
  stateFamilies,
} from '../../../src/pilot-agent/report/agent-families.ts';
import { printFamilies } from '../../../src/shared/metrics/metric-family.ts';
import type { Exit } from '../../../src/epochs/ports.ts';
import type { Change } from '../../../src/streams/reading.ts';
import { readingOf } from '../../../src/testing/reading.ts';

const killed: Exit = { kind: 'signaled', signal: 'SIGKILL', tail: [] };
const failed: Exit = { kind: 'failed', code: 1, tail: [] };
const clean: Exit = { kind: 'clean' };
const ended = (epoch: number, exit: Exit): AgentEvent => ({ type: 'epoch-exited', epoch, exit });
const live = (epoch: number): AgentEvent => ({ type: 'epoch-live', epoch });
const granted = (epoch: number): AgentEvent => ({ type: 'turn-granted', epoch, parent: 'live' });
const changed = (hash: string): AgentEvent => ({
  type: 'config-changed',
  reading: readingOf(hash),
});
const accepted = (hash: string): AgentEvent => ({
  type: 'config-accepted',
  hash,
  verdict: { kind: 'works' },
});
const spawned = (epoch: number): AgentEvent => ({ type: 'epoch-spawned', epoch, pid: 7 });
const start = [changed('a'), granted(0), spawned(0), live(0)];

/** Returns the timeline of events that come one second apart, from 1 s on. */
function keep(events: readonly AgentEvent[]): Timeline {
  const reduce = reducer({ onCrash: 'backoff', budget: 10 });
  let before: AgentState = initialState;
  return events.reduce<Timeline>((kept, event, index) => {
    const [state] = reduce(before, event);
    const next = timeline(kept, {
      type: 'transition',
      at: (index + 1) * 1_000,
      transition: { event, before, state },
    });
    before = state;
    return next;
  }, noTimeline);
}

describe('the timeline', () => {
  it('has for an epoch why it started, when it was spawned, LIVE, told to drain, and how and when it ended', () => {
    const kept = keep([
      ...start,
      changed('b'),
      granted(1),
      accepted('b'),
      spawned(1),
      live(1),
      ended(0, clean),
    ]);
    expect(kept.epochs).toEqual([
      {
        epoch: 0,
        lineage: 0,
        hash: 'a',
        why: 'first',
        changed: [],
        launchedAt: 2_000,
        spawnedAt: 3_000,
        liveAt: 4_000,
        toldToDrainAt: 9_000,
        endedAt: 10_000,
        pid: 7,
        exit: clean,
        isExpected: true,
      },
      {
        epoch: 1,
        lineage: 0,
        hash: 'b',
        why: 'change',
        changed: [],
        launchedAt: 7_000,
        spawnedAt: 8_000,
        liveAt: 9_000,
        pid: 7,
      },
    ]);
    expect(kept.counters).toEqual({
      changes: 0,
      windows: 0,
      restarts: 1,
      refusals: 0,
      crashes: 0,
      rescues: 0,
      drains: 1,
    });
    expect(kept.durations.start).toMatchObject({ count: 2, sum: 4 });
    expect(kept.durations.drain).toMatchObject({ count: 1, sum: 1 });
    expect(kept.durations.life).toMatchObject({ count: 1, sum: 8 });
  });

  it('tells a restart by hand, a second try and a rescue from a change', () => {
    const byHand: AgentEvent = { type: 'restart-requested', by: 'SIGHUP', reading: readingOf('a') };
    const second = [
      ...start,
      byHand,
      granted(1),
      accepted('a'),
      ended(1, failed),
      granted(2),
      accepted('a'),
      ended(2, failed),
    ];
    const kept = keep(second);
    expect(kept.epochs.map(({ why }) => why)).toEqual(['first', 'by hand', 'again', 'rescue']);
    expect(kept.counters).toMatchObject({ restarts: 3, crashes: 2, rescues: 1 });
  });

  it('says of an epoch what has changed since the one before, refused or not, and who has asked for it', () => {
    const files = (part: string, marks: { readonly from?: string; readonly to?: string } = {}) => ({
      source: 'files',
      part,
      ...marks,
    });
    const change = (hash: string, ...differs: readonly Change[]): AgentEvent => ({
      type: 'config-changed',
      reading: { ...readingOf(hash), changed: differs },
    });
    const kept = keep([
      ...start,
      change('b', files('chain', { from: 'serial 1', to: 'serial 2' })),
      granted(1),
      { type: 'config-refused', hash: 'b', reason: 'the key does not match' },
      change('c', files('chain', { from: 'serial 2', to: 'serial 3' }), files('key')),
      ...[granted(1), accepted('c'), spawned(1), live(1)],
      ...[change('d', files('mesh')), change('c', files('mesh'))], // c runs already
      { type: 'restart-requested', by: 'POST /restart', reading: readingOf('c') },
      ...[granted(2), accepted('c'), spawned(2), live(2)],
    ]);
    expect(kept.epochs.map(({ why, changed: differs }) => ({ why, differs }))).toEqual([
      { why: 'first', differs: [] },
      {
        why: 'change',
        differs: [files('chain', { from: 'serial 1', to: 'serial 3' }), files('key')],
      },
      { why: 'by hand', differs: [{ source: 'POST /restart', part: '' }] },
    ]);
    expect(printFamilies(lifecycleFamilies(kept))).toEqual(
      expect.arrayContaining([
        'istio_agent_envoy_starts_total{why="first",source="",part=""} 1',
        'istio_agent_envoy_starts_total{why="change",source="files",part="chain"} 1',
        'istio_agent_envoy_starts_total{why="change",source="files",part="key"} 1',
        'istio_agent_envoy_starts_total{why="by hand",source="POST /restart",part=""} 1',
      ]),
    );
  });

  it('keeps what has changed while a crashed Envoy is started again', () => {
    const mesh = { source: 'files', part: 'mesh' };
    const refused: readonly AgentEvent[] = [
      { type: 'config-changed', reading: { ...readingOf('b'), changed: [mesh] } },
      granted(1),
      { type: 'config-refused', hash: 'b', reason: 'no' },
    ];
    const kept = keep([
      ...start,
      ...refused,
      ended(0, killed),
      { type: 'retry-due' },
      granted(1),
      accepted('b'),
    ]);
    expect(kept.epochs.at(-1)).toMatchObject({ why: 'change', changed: [mesh] });
    const again = keep([
      ...start,
      ended(0, killed),
      { type: 'retry-due' },
      granted(1),
      accepted('a'),
    ]);
    expect(again.causes.map(({ why, count }) => ({ why, count }))).toEqual([
      { why: 'first', count: 1 },
      { why: 'again', count: 1 },
    ]);
  });

  it('counts a hundred reasons, and the others as one', () => {
    const events = Array.from({ length: 150 }, (_, index): readonly AgentEvent[] => [
      {
        type: 'config-changed',
        reading: { ...readingOf(`h${index}`), changed: [{ source: 'own', part: `part ${index}` }] },
      },
      ...[granted(index + 1), accepted(`h${index}`), spawned(index + 1), live(index + 1)],
      ...[{ type: 'parent-expired', epoch: index + 1 } as const, ended(index, clean)],
    ]);
    const { causes } = keep([...start, ...events.flat()]);
    expect(causes).toHaveLength(101);
    expect(causes.at(-1)).toEqual({ why: 'change', source: 'other', part: '', count: 51 });
  });

  it('has an Envoy that was kept from the moment on when it was taken over, and no durations that began before', () => {
    const epochs = [6, 7].map((epoch) => ({ epoch, restartEpoch: epoch, lineage: 1, pid: epoch }));
    const adopted = keep([{ type: 'epochs-adopted', epochs }, live(7), ended(6, clean)]);
    expect(adopted.epochs).toEqual([
      {
        epoch: 6,
        lineage: 1,
        hash: '',
        why: 'adopted',
        changed: [],
        pid: 6,
        launchedAt: 1_000,
        toldToDrainAt: 2_000,
        endedAt: 3_000,
        exit: clean,
        isExpected: true,
      },
      {
        epoch: 7,
        lineage: 1,
        hash: '',
        why: 'adopted',
        changed: [],
        pid: 7,
        launchedAt: 1_000,
        liveAt: 2_000,
      },
    ]);
    expect(adopted.counters).toMatchObject({ restarts: 0, crashes: 0, drains: 1 });
    expect(adopted.durations).toMatchObject({
      start: { count: 0 },
      life: { count: 0 },
      drain: { count: 1 },
    });
    const next = keep([
      { type: 'epochs-adopted', epochs },
      live(7),
      changed('a'),
      granted(8),
      accepted('a'),
    ]);
    expect(next.epochs.at(-1)).toMatchObject({ epoch: 8, lineage: 1, hash: 'a', why: 'change' });
    expect(next.counters.restarts).toBe(1);
  });

  it('counts a crash, and no end that was asked for', () => {
    const terminate: AgentEvent = { type: 'terminate-requested', by: 'SIGTERM' };
    expect(keep([...start, ended(0, killed)]).counters.crashes).toBe(1);
    const kept = keep([...start, terminate, { type: 'drained', active: 0 }, ended(0, killed)]);
    expect(kept.counters).toMatchObject({ crashes: 0, drains: 1 });
    expect(kept.epochs[0]).toMatchObject({
      toldToDrainAt: 5_000,
      endedAt: 7_000,
      exit: killed,
      isExpected: true,
    });
  });

  it('counts refusals, each once, however often it is found again', () => {
    const refusal: AgentEvent = { type: 'config-refused', hash: 'b', reason: 'expired' };
    const refused = [...start, changed('b'), granted(1), refusal];
    expect(keep(refused).counters.refusals).toBe(1);
    const again = [{ type: 'retry-due' } as const, granted(1)];
    expect(keep([...refused, ...again, refusal]).counters.refusals).toBe(1);
    expect(
      keep([...refused, ...again, { ...refusal, reason: 'the key is missing' }]).counters.refusals,
    ).toBe(2);
  });

  it('counts a start that took exactly as long as a limit as one within it', () => {
    const { buckets } = keep([changed('a'), granted(0), live(0)]).durations.start; // 1 s
    expect(buckets.filter(({ count }) => count === 1).map(({ limit }) => limit)).toEqual([
      1, 2.5, 5, 10, 20,
    ]);
  });

  it('counts changes and windows', () => {
    const twoChanges = timeline(timeline(noTimeline, { type: 'change-seen', at: 1 }), {
      type: 'change-seen',
      at: 2,
    });
    expect(timeline(twoChanges, { type: 'window-closed', at: 3 }).counters).toMatchObject({
      changes: 2,
      windows: 1,
    });
  });

  it('keeps a thousand epochs, and counts on', () => {
    const again = Array.from({ length: 1_050 }, (_, epoch) => [
      ended(epoch, killed),
      { type: 'retry-due' } as const,
      granted(epoch + 1),
      accepted('a'),
      live(epoch + 1),
      { type: 'epoch-stable', epoch: epoch + 1 } as const,
    ]);
    const kept = keep([...start, ...again.flat()]);
    expect(kept.epochs).toHaveLength(1_000);
    expect(kept.epochs.at(-1)?.epoch).toBe(1_050);
    expect(kept.counters).toMatchObject({ crashes: 1_050, restarts: 1_050 });
  });
});

describe('the metrics of the timeline', () => {
  const families = lifecycleFamilies(keep([...start, ended(0, killed)]));
  const samples = (name: string) => families.find((family) => family.name === name)?.samples;

  it('have one family a name', () => {
    const names = families.map(({ name }) => name);
    expect([...new Set(names)]).toEqual(names);
    expect(names.every((name) => /^istio_agent_[a-z_]+$/.test(name))).toBe(true);
    expect(
      families.filter(({ name, type }) => (type === 'counter') !== name.endsWith('_total')),
    ).toEqual([]);
  });

  it('have counters, gauges, and histograms whose buckets add up', () => {
    expect(samples('istio_agent_envoy_crashes_total')).toEqual([{ value: 1 }]);
    const start = samples('istio_agent_envoy_start_seconds') ?? [];
    expect(
      start
        .filter(({ suffix }) => suffix === '_bucket')
        .map(({ labels, value }) => [labels?.['le'], value]),
    ).toEqual([
      ...[
        ['0.1', 0],
        ['0.25', 0],
        ['0.5', 0],
        ['1', 0],
        ['2.5', 1],
        ['5', 1],
        ['10', 1],
        ['20', 1],
        ['+Inf', 1],
      ],
    ]);
    expect(start.slice(-2)).toEqual([
      { suffix: '_sum', value: 2 },
      { suffix: '_count', value: 1 },
    ]);
  });

  it('say who refuses, but not in a text: each would be a time series', () => {
    const refused = (state: AgentState) =>
      stateFamilies(state).find(({ name }) => name === 'istio_agent_configuration_refused')
        ?.samples;
    expect(refused(initialState)).toEqual([{ value: 0 }]);
    const after = (wanted: AgentState['wanted']) =>
      refused({ ...initialState, wanted, refused: { hash: 'a', reason: 'expired' } });
    const unmade = { kind: 'refused', reason: 'expired' } as const;
    expect(after(readingOf('a'))).toEqual([{ labels: { reason: 'check' }, value: 1 }]);
    expect(after(readingOf('a', unmade))).toEqual([
      { labels: { reason: 'configuration' }, value: 1 },
    ]);
    expect(after(readingOf('b', unmade))).toEqual([{ labels: { reason: 'check' }, value: 1 }]);
  });

  it('are printed under the name of their family, each with what it has behind that', () => {
    const lines = printFamilies(families).filter((line) =>
      line.includes('istio_agent_envoy_start_seconds'),
    );
    expect(lines.slice(0, 3)).toEqual([
      '# HELP istio_agent_envoy_start_seconds From the launch of an Envoy to LIVE',
      '# TYPE istio_agent_envoy_start_seconds histogram',
      'istio_agent_envoy_start_seconds_bucket{le="0.1"} 0',
    ]);
    expect(lines.slice(-2)).toEqual([
      'istio_agent_envoy_start_seconds_sum 2',
      'istio_agent_envoy_start_seconds_count 1',
    ]);
  });
});

describe('what is stored', () => {
  const served = (times: readonly (readonly [time: number, confirmedAt: number | undefined])[]) =>
    times.reduce(
      (kept, [time, confirmedAt]) =>
        timeline(kept, { type: 'stored-served', at: time, confirmedAt }),
      noTimeline,
    ).stored;

  it('is kept as long as it is served, from its first time on', () => {
    expect(
      served([
        [10, undefined],
        [20, 5],
        [30, 5],
        [40, undefined],
        [50, undefined],
        [60, 55],
      ]),
    ).toEqual([
      { confirmedAt: 5, from: 20, to: 40 },
      { confirmedAt: 55, from: 60 },
    ]);
  });

  it('is forgotten after a hundred times', () => {
    const times = Array.from({ length: 300 }, (_, index): [number, number | undefined] => [
      index,
      index % 2 === 0 ? 0 : undefined,
    ]);
    expect(served(times)).toHaveLength(100);
    expect(served(times).at(-1)).toEqual({ confirmedAt: 0, from: 298, to: 299 });
  });
});
