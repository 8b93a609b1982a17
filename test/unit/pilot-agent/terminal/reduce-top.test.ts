import { describe, expect, it } from 'vitest';
import {
  firstTopState,
  type Key,
  type TopEvent,
  type TopState,
} from '../../../../src/pilot-agent/terminal/top-model.ts';
import { reduceTop } from '../../../../src/pilot-agent/terminal/top-reducer.ts';
import { agentReport, epochReport, fourEpochs } from '../../../support/agent-report.ts';

const first = firstTopState({ width: 80, height: 24 }, 1_000);

const key = (name: string, given: Partial<Key> = {}): TopEvent => ({
  type: 'key',
  key: { name, text: name, isCtrl: false, ...given },
});
const ctrl = (name: string) => key(name, { isCtrl: true, text: '' });
const typed = (text: string): readonly TopEvent[] =>
  Array.from(text).map((letter) => key(/[a-z]/.test(letter) ? letter : '', { text: letter }));
const epochs = (...data: typeof fourEpochs): TopEvent => ({
  type: 'heard',
  live: { event: 'epochs', data },
});
const log = (id: number): TopEvent => ({
  type: 'heard',
  live: {
    event: 'log',
    data: [{ id, at: '', level: 'info', component: 'agent', event: 'a', msg: '', fields: {} }],
  },
});

/** Returns the last state, and the effects of the last event. */
function after(...events: readonly TopEvent[]) {
  return events.reduce<ReturnType<typeof reduceTop>>(
    ([state], event) => reduceTop(state, event),
    [first, []],
  );
}
const stateAfter = (...events: readonly TopEvent[]): TopState => after(...events)[0];

describe('the reducer of top', () => {
  it.each([
    ['q', key('q')],
    ['Ctrl-C', ctrl('c')],
    ['a signal', { type: 'end-requested' }],
  ] as const)('ends at %s', (_, event) => {
    expect(stateAfter(event).isOver).toBe(true);
  });

  it.each(['filter', 'help', 'drain', 'restart'] as const)(
    'ends at Ctrl-C, and stops at Ctrl-Z, in %s too',
    (mode) => {
      expect(reduceTop({ ...first, mode }, ctrl('c'))[0].isOver).toBe(true);
      expect(reduceTop({ ...first, mode }, ctrl('z'))[1]).toEqual([{ type: 'suspend' }]);
    },
  );

  it.each([
    ['d', 'drain'],
    ['r', 'restart'],
  ] as const)('asks after %s, and orders it at y alone', (letter, order) => {
    const [asking, nothing] = after(key(letter));
    expect([asking.mode, nothing]).toEqual([order, []]);
    expect(reduceTop(asking, key('y'))).toMatchObject([
      { mode: 'watch', lastResult: `${order}: asked` },
      [{ type: 'order', order }],
    ]);
    for (const other of [key('n'), key('return'), key(letter), key('escape'), key('q'), ctrl('y')])
      expect(reduceTop(asking, other)).toMatchObject([
        { mode: 'watch', lastResult: undefined, isOver: false },
        [],
      ]);
  });

  it('tells what came of an order until the next key', () => {
    const answered = stateAfter({ type: 'answered', order: 'drain', answer: 'the agent does it' });
    expect(answered.lastResult).toBe('drain: the agent does it');
    expect(reduceTop(answered, key('l'))[0].lastResult).toBeUndefined();
  });

  it('writes a filter, in which no letter is an order', () => {
    const written = stateAfter(
      ...typed('/q d?'),
      key('backspace'),
      key('up', { text: '\x1b[A' }),
      key('', { text: '\x07' }),
    );
    expect([written.mode, written.filter, written.isOver]).toEqual(['filter', 'q d', false]);
    expect(reduceTop(written, key('return', { text: '\r' }))[0]).toMatchObject({
      mode: 'watch',
      filter: 'q d',
    });
    expect(reduceTop(written, key('escape', { text: '\x1b' }))[0]).toMatchObject({
      mode: 'watch',
      filter: '',
    });
    expect(reduceTop(written, ctrl('u'))[0]).toMatchObject({ mode: 'filter', filter: '' });
    expect(stateAfter(...typed(`/${'a'.repeat(1_000)}`)).filter).toHaveLength(200);
  });

  it('goes through the epochs, the newest at the top, and not beyond them', () => {
    const epochsHeard = epochs(...fourEpochs);
    expect(stateAfter(epochsHeard, key('down')).selected).toBe(3);
    expect(stateAfter(epochsHeard, key('up')).selected).toBe(0);
    expect(
      stateAfter(epochsHeard, key('down'), key('j'), key('k'), key('up'), key('up')).selected,
    ).toBe(3);
    expect(stateAfter(epochsHeard, key('up'), key('down')).selected).toBe(0);
    expect(stateAfter(epochsHeard, key('up'), key('escape')).selected).toBeUndefined();
    expect(stateAfter(key('up')).selected).toBeUndefined();
  });

  it('goes round the levels and the lengths of the timeline', () => {
    expect(
      [1, 2, 3, 4].map((times) => stateAfter(...Array<TopEvent>(times).fill(key('l'))).level),
    ).toEqual(['warn', 'error', 'debug', 'info']);
    expect(
      [1, 2, 3].map((times) => stateAfter(...Array<TopEvent>(times).fill(key('t'))).span),
    ).toEqual([3_600_000, 0, 60_000]);
  });

  it('shows long lines whole at w, and cuts them at the next one', () => {
    expect([stateAfter(key('w')).long, stateAfter(key('w'), key('w')).long]).toEqual([
      'whole',
      'cut',
    ]);
  });

  it('opens the help, which any key closes', () => {
    expect(stateAfter(key('', { text: '?' })).mode).toBe('help');
    expect(stateAfter(key('', { text: '?' }), key('q'))).toMatchObject({
      mode: 'watch',
      isOver: false,
    });
  });

  it('takes the newest word of each epoch, and a thousand of them', () => {
    const state = stateAfter(
      epochs(...fourEpochs),
      epochs(epochReport(4), epochReport(3, { state: 'ended' })),
    );
    expect(state.epochs.map(({ epoch, state: how }) => `${epoch} ${how}`)).toEqual([
      '0 ended',
      '1 ended',
      '2 draining',
      '3 ended',
      '4 live',
    ]);
    const many = stateAfter(
      epochs(...Array.from({ length: 1_200 }, (_, index) => epochReport(index))),
    );
    expect([many.epochs.length, many.epochs[0]?.epoch]).toEqual([1_000, 200]);
  });

  it('keeps 5,000 lines of the log, or up to a tenth more', () => {
    const state = Array.from({ length: 5_501 }, (_, index) => log(index)).reduce(
      (before, event) => reduceTop(before, event)[0],
      first,
    );
    expect([state.log?.length, state.log?.[0]?.id]).toEqual([5_000, 501]);
  });

  it('keeps what it knows while the agent is away, and begins anew with another agent', () => {
    const report = agentReport({ epochs: [] });
    const events = [
      { type: 'connected' },
      { type: 'heard', live: { event: 'report', data: report } },
      epochs(...fourEpochs),
      log(1),
    ] as const;
    const away = stateAfter(
      ...events,
      { type: 'away', reason: 'a' },
      { type: 'clock', now: 9_000 },
      { type: 'away', reason: 'b' },
    );
    expect(away).toMatchObject({
      link: { kind: 'away', reason: 'b', since: 1_000 },
      report,
      epochs: fourEpochs,
    });
    const back = reduceTop(away, { type: 'connected' })[0];
    expect(back).toMatchObject({ link: { kind: 'connected' }, report, epochs: fourEpochs });
    const again = [{ type: 'heard', live: { event: 'report', data: report } }, log(1)] as const;
    expect(again.reduce((state, event) => reduceTop(state, event)[0], back)).toEqual(back);
    const other = { ...report, agent: { ...report.agent, pid: report.agent.pid + 1 } };
    const live = { event: 'report', data: other } as const;
    expect(reduceTop(back, { type: 'heard', live })[0]).toMatchObject({
      report: other,
      epochs: [],
      log: undefined,
      traffic: [],
    });
  });

  it('takes the terminal, gives it back when it is asked to, and draws all anew when it has it again', () => {
    expect(after({ type: 'suspend-requested' })[1]).toEqual([{ type: 'suspend' }]);
    const [again, effects] = after({ type: 'resumed' });
    expect([again.drawing, effects]).toEqual([1, [{ type: 'open' }]]);
    expect(stateAfter({ type: 'resized', size: { width: 1, height: 2 } })).toMatchObject({
      size: { width: 1, height: 2 },
      drawing: 1,
    });
    expect(stateAfter(ctrl('l')).drawing).toBe(1);
  });
});
