import { describe, expect, it } from 'vitest';
import type {
  LiveEvent,
  LogReport,
  TrafficReport,
} from '../../../../src/pilot-agent/report/live-events.ts';
import type { ServiceReport } from '../../../../src/pilot-agent/report/request-report.ts';
import { firstTopState, type TopState } from '../../../../src/pilot-agent/terminal/top-model.ts';
import { reduceTop } from '../../../../src/pilot-agent/terminal/top-reducer.ts';
import { topScreen } from '../../../../src/pilot-agent/terminal/top-screen.ts';
import { widthOf } from '../../../../src/pilot-agent/terminal/text-width.ts';
import { growthRatio } from '../../../support/growth-ratio.ts';
import { agentReport, atSecond, epochReport, inTrouble } from '../../../support/agent-report.ts';

const sizes = [
  { width: 80, height: 24 },
  { width: 200, height: 60 },
] as const;
const plain = (_: unknown, text: string) => text;

/** 60 reports, in which requests come faster and faster, and a few of them fail. */
const traffic = Array.from({ length: 60 }, (_, index): TrafficReport => {
  const counts = { requests: index * index, failures: index > 50 ? index - 50 : 0 };
  return {
    at: atSecond(250 + index),
    epoch: 3,
    ...counts,
    connections: 12,
    active: 3,
    byEpoch: [{ epoch: 3, ...counts }],
    processes: [
      { what: 'agent', pid: 4242, residentBytes: 71 << 20, cpuSeconds: index * 0.01 },
      { what: 'envoy', epoch: 2, pid: 4002, residentBytes: 40 << 20, cpuSeconds: 1 },
      { what: 'envoy', epoch: 3, pid: 4003, residentBytes: 57 << 20, cpuSeconds: index * 0.25 },
    ],
  };
});
const service: ServiceReport = {
  at: atSecond(309),
  state: 'answering',
  clusters: { count: 1, unhealthy: 0, first: [{ name: 'a', healthy: 1, total: 1 }] },
  listeners: { count: 0, first: [] },
};
const levels = ['debug', 'info', 'warn', 'error'] as const;
const log = Array.from({ length: 200 }, (_, index): LogReport => {
  return {
    id: index,
    at: atSecond(200 + index / 2),
    level: levels[index % 4] ?? 'info',
    component: index % 3 === 0 ? 'envoy.main' : 'agent',
    epoch: index % 5,
    event: 'a.b',
    msg: `line ${index} \u001b[2J 日本語`,
    fields: { path: '/etc/certs\nkey.pem', many: [1, 2] },
  };
});

function heard(state: TopState, ...events: readonly LiveEvent[]): TopState {
  return events.reduce((before, live) => reduceTop(before, { type: 'heard', live })[0], state);
}

/** Returns the state after reports of an agent with all of this, at its 310th second. */
function watched(
  size: TopState['size'],
  stateFields: Partial<TopState> = {},
  report = agentReport(),
): TopState {
  const { epochs, ...rest } = report;
  const connected = reduceTop(firstTopState(size, Date.parse(atSecond(310))), {
    type: 'connected',
  })[0];
  const events: readonly LiveEvent[] = [
    { event: 'report', data: rest },
    { event: 'epochs', data: epochs },
    { event: 'traffic', data: traffic },
    { event: 'log', data: log },
  ];
  return { ...heard(connected, ...events), ...stateFields };
}

const cases: readonly (readonly [string, (size: TopState['size']) => TopState])[] = [
  ['watch', (size) => watched(size)],
  ['trouble', (size) => watched(size, { selected: 0 }, inTrouble)],
  ['selected', (size) => watched(size, { selected: 1, filter: 'AGENT', level: 'warn', span: 0 })],
  ['drain', (size) => watched(size, { mode: 'drain' })],
  ['filter', (size) => watched(size, { mode: 'filter', filter: 'line 1\u001b' })],
  ['whole', (size) => watched(size, { long: 'whole', selected: 1 }, inTrouble)],
  ['help', (size) => watched(size, { mode: 'help' })],
  [
    'away',
    (size) =>
      watched(size, {
        link: { kind: 'away', reason: 'there is no socket', since: Date.parse(atSecond(298)) },
      }),
  ],
  ['connecting', (size) => firstTopState(size, Date.parse(atSecond(310)))],
  [
    'many',
    (size) =>
      watched(
        size,
        { selected: 100 },
        agentReport({ epochs: Array.from({ length: 200 }, (_, index) => epochReport(index)) }),
      ),
  ],
];

describe('the screen of top', () => {
  it.each(cases)('is drawn so: %s', async (name, make) => {
    for (const size of sizes) {
      const text = `${topScreen(make(size), plain).join('\n')}\n`;
      await expect(text).toMatchFileSnapshot(
        `../../../golden/screens/top-${name}-${size.width}x${size.height}.txt`,
      );
    }
  });

  it.each(cases)(
    'has a line for each of the terminal, and none that is too wide or acts on it: %s',
    (_, make) => {
      for (const size of [
        ...sizes,
        { width: 40, height: 10 },
        { width: 3, height: 3 },
        { width: 1, height: 1 },
      ]) {
        const lines = topScreen(make(size), plain);
        expect(lines).toHaveLength(size.height);
        expect(lines.filter((line) => widthOf(line) > size.width || /\p{Cc}/u.test(line))).toEqual(
          [],
        );
      }
    },
  );

  it('shows the life of each epoch: a crash, a drain, what serves', () => {
    const lines = topScreen(watched({ width: 200, height: 60 }), plain);
    const line = (epoch: number) =>
      lines.find((screenLine) => screenLine.startsWith(`${String(epoch).padStart(5)} `)) ?? '';
    expect(line(1)).toMatch(/crashed .* {2}█+× +lived 1m 2s$/);
    expect(line(2)).toMatch(/draining .*█▒+ /);
    expect(line(3)).toMatch(/live .*█ +117\/s 1\.0 fail {2}57 MiB$/);
    expect(line(0)).toMatch(/ended +█+▒+▪ +lived 2m 25s$/);
  });

  it('shows of the log what is asked for alone: the level, the epoch, the text', () => {
    const logChoice = { level: 'warn', selected: 1, filter: 'ENVOY.main' } as const;
    const lines = topScreen(watched({ width: 200, height: 60 }, logChoice), plain);
    const shown = lines
      .slice(lines.findIndex((line) => line.startsWith('LOG')) + 1)
      .filter((line) => /^\d/.test(line));
    const wanted = log.filter(
      (entry) =>
        entry.level !== 'debug' &&
        entry.level !== 'info' &&
        entry.epoch === 1 &&
        entry.component === 'envoy.main',
    );
    expect(wanted.length).toBeGreaterThan(3);
    expect(shown.map((line) => /line (\d+)/.exec(line)?.[1])).toEqual(
      wanted.map(({ id }) => String(id)),
    );
  });

  it('shows no rate where counts begin anew, and none of one report', () => {
    const [previous, last] = traffic
      .slice(-2)
      .map((report, index) => (index === 0 ? report : { ...report, requests: 1 }));
    const state = watched(
      { width: 200, height: 60 },
      { traffic: [previous, last].flatMap((report) => report ?? []) },
    );
    expect(topScreen(state, plain)[2]).toMatch(/^requests\/s {5}0 /);
    expect(topScreen({ ...state, traffic: state.traffic.slice(1) }, plain)[2]).toMatch(
      /^requests\/s {5}– /,
    );
    expect(topScreen(watched({ width: 200, height: 60 }), plain)[2]).toMatch(
      /^requests\/s {3}117 .*█ {2}failures\/s {3}1\.0 /,
    );
    expect(topScreen(watched({ width: 200, height: 60 }), plain)[3]).toContain(
      'Envoy 97 MiB 25 % CPU  agent 71 MiB 1 % CPU',
    );
  });

  it.each([
    ['its epoch is gone', { epochs: [epochReport(0, { state: 'ended' })] }],
    ['its epoch starts', { epochs: [epochReport(0, { state: 'starting' })] }],
    ['the agent is away', { link: { kind: 'away', reason: 'gone', since: 0 } }],
  ] as const)(
    'has no rate, no connection and no service while nobody serves: %s',
    (_, stateFields) => {
      const state = watched({ width: 200, height: 60 }, { service, ...stateFields });
      const [, , rates, counts, served] = topScreen(state, plain);
      expect(topScreen(watched({ width: 200, height: 60 }, { service }), plain)[4]).toBe(
        'inbound –  outbound –  1 cluster',
      );
      expect(served).toBe('inbound –  outbound –  clusters –');
      expect(rates).toMatch(/^requests\/s {5}– .* failures\/s {5}– /);
      expect(counts).toMatch(/^– connections {2}– in flight {2}/);
    },
  );

  it('shows as much of the past as the agent is old, and no more than is asked for', () => {
    const range = (now: number, span: TopState['span'] = 600_000) => {
      const state = {
        ...watched({ width: 200, height: 60 }),
        now: Date.parse(atSecond(now)),
        span,
      };
      return /run {2}(last .*?) {2}/.exec(
        topScreen(state, plain).find((line) => line.startsWith('EPOCHS')) ?? '',
      )?.[1];
    };
    expect([20, 599, 3_000].map((age) => range(age))).toEqual([
      'last 20 s',
      'last 9m 59s',
      'last 10m',
    ]);
    expect([range(3, 600_000), range(3_000, 60_000), range(3_000, 0)]).toEqual([
      'last 10 s',
      'last 1m',
      'last 50m',
    ]);
  });

  it('never says that an agent runs which is not ready', () => {
    const first = (report: typeof inTrouble) =>
      topScreen(watched({ width: 200, height: 60 }, {}, report), plain)[0];
    expect(first(agentReport({ ready: { ok: false, reason: 'why' } }))).toMatch(
      /^NOT READY {2}(?!.*running)/,
    );
    expect(first(agentReport({ phase: 'draining' }))).toMatch(
      /^NOT READY {2}pilot-agent 0\.1\.0 {2}draining, up for/,
    );
  });

  it('shows whole what is too long for a line, if that is asked for', () => {
    const reason = `${'many words '.repeat(30)}and the end`;
    const report = agentReport({
      ready: { ok: false, reason },
      live: { ok: false, reason: 'it hangs' },
    });
    const line: LogReport = {
      id: 900,
      at: atSecond(300),
      level: 'error',
      component: 'agent',
      event: 'a.b',
      msg: reason,
      fields: {},
    };
    const screenText = (long: TopState['long']) =>
      topScreen(watched({ width: 80, height: 40 }, { long, log: [line] }, report), plain).join(' ');
    expect(screenText('cut')).toMatch(/not live: it hangs {2}\(w: 1 more\)/);
    expect(screenText('cut')).not.toContain('and the end');
    expect(
      screenText('whole').replace(/\s+/g, ' ').split(reason.replace(/\s+/g, ' ')),
    ).toHaveLength(3);
  });

  it('breaks no more lines of the log than the screen has', () => {
    const line: LogReport = {
      ...{ id: 900, at: atSecond(300), level: 'error', component: 'agent', event: 'a.b' },
      ...{ msg: 'many words '.repeat(700), fields: {} },
    };
    const drawn = (count: number) => {
      const lines = Array.from({ length: count }, (_, id) => ({ ...line, id }));
      const state = watched({ width: 80, height: 60 }, { long: 'whole', log: lines });
      return () => topScreen(state, plain);
    };
    expect(growthRatio(drawn(1), drawn(40), 4)).toBeLessThan(4);
  });

  it('says what an Envoy wrote last once, in the details of its epoch', () => {
    const state = watched({ width: 400, height: 60 }, { selected: 1, log: [] });
    const words = state.epochs.find(({ epoch }) => epoch === 1)?.exit?.lastWords[0] ?? 'none';
    expect(topScreen(state, plain).join('\n').split(words)).toHaveLength(2);
  });

  it('says that a certificate expires soon, or has expired', () => {
    const state = watched({ width: 200, height: 60 });
    const [certificate] = agentReport().certificates;
    const troubleText = (left: number) => {
      const validity = {
        notBefore: new Date(state.now - 3_600_000).toISOString(),
        notAfter: new Date(state.now + left).toISOString(),
      };
      const certificates =
        certificate === undefined ? [] : [{ ...certificate, ...validity, name: 'default' }];
      return topScreen(
        watched({ width: 200, height: 60 }, {}, agentReport({ certificates })),
        plain,
      )[1];
    };
    expect(troubleText(102_000)).toBe('the certificate default expires in 1m 42s');
    expect(troubleText(-1)).toBe('the certificate default has expired');
    expect(troubleText(3_600_000)).toBe('no trouble is known');
  });

  it('says what is wrong once', () => {
    const wrong = {
      address: 'istiod:15012',
      by: 'agent',
      state: 'unavailable',
      reason: 'connection refused',
      rejected: [],
    } as const;
    const report = agentReport({
      controlPlane: wrong,
      notes: ['control plane istiod:15012: connection refused, since now'],
    });
    expect(topScreen(watched({ width: 200, height: 60 }, {}, report), plain)[1]).toBe(
      'control plane istiod:15012 is unavailable: connection refused',
    );
  });

  it('asks before a drain as before what cannot be undone', () => {
    const painted = topScreen(
      watched({ width: 80, height: 24 }, { mode: 'drain' }),
      (style, text) => `<${[style].flat().join()}>${text}`,
    );
    expect(painted.at(-1)).toMatch(/^<bold,red>Drain\? This cannot be undone/);
  });
});
