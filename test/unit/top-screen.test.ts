import { describe, expect, it } from 'vitest';
import type { LiveEvent, LogReport, TrafficReport } from '../../src/report/live-events.ts';
import { firstTopState, type TopState } from '../../src/terminal/top-model.ts';
import { reduceTop } from '../../src/terminal/top-reducer.ts';
import { topScreen } from '../../src/terminal/top-screen.ts';
import { widthOf } from '../../src/terminal/text-width.ts';
import { agentReport, atSecond, epochReport, inTrouble } from '../support/agent-report.ts';

const sizes = [{ width: 80, height: 24 }, { width: 200, height: 60 }] as const; // prettier-ignore
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

/** What is seen of an agent with all of this, at its 310th second. */
function watched(size: TopState['size'], told: Partial<TopState> = {}, report = agentReport()): TopState {
  const { epochs, ...rest } = report;
  const connected = reduceTop(firstTopState(size, Date.parse(atSecond(310))), { type: 'connected' })[0];
  const events: readonly LiveEvent[] = [
    { event: 'report', data: rest },
    { event: 'epochs', data: epochs },
    { event: 'traffic', data: traffic },
    { event: 'log', data: log },
  ];
  return { ...heard(connected, ...events), ...told };
}

const cases: readonly (readonly [string, (size: TopState['size']) => TopState])[] = [
  ['watch', (size) => watched(size)],
  ['trouble', (size) => watched(size, { selected: 0 }, inTrouble)],
  ['selected', (size) => watched(size, { selected: 1, filter: 'AGENT', level: 'warn', span: 0 })],
  ['drain', (size) => watched(size, { mode: 'drain' })],
  ['filter', (size) => watched(size, { mode: 'filter', filter: 'line 1\u001b' })],
  ['help', (size) => watched(size, { mode: 'help' })],
  ['away', (size) => watched(size, { link: { kind: 'away', reason: 'there is no socket', since: Date.parse(atSecond(298)) } })],
  ['connecting', (size) => firstTopState(size, Date.parse(atSecond(310)))],
  [
    'many',
    (size) => watched(size, { selected: 100 }, agentReport({ epochs: Array.from({ length: 200 }, (_, index) => epochReport(index)) })),
  ],
];

describe('the screen of top', () => {
  it.each(cases)('is drawn so: %s', async (name, make) => {
    for (const size of sizes) {
      const text = `${topScreen(make(size), plain).join('\n')}\n`;
      await expect(text).toMatchFileSnapshot(`../golden/screens/top-${name}-${size.width}x${size.height}.txt`);
    }
  });

  it.each(cases)('has a line for each of the terminal, and none that is too wide or acts on it: %s', (_, make) => {
    for (const size of [...sizes, { width: 40, height: 10 }, { width: 3, height: 3 }, { width: 1, height: 1 }]) {
      const lines = topScreen(make(size), plain);
      expect(lines).toHaveLength(size.height);
      expect(lines.filter((line) => widthOf(line) > size.width || /\p{Cc}/u.test(line))).toEqual([]);
    }
  });

  it('shows the life of each epoch: a crash, a drain, what serves', () => {
    const lines = topScreen(watched({ width: 200, height: 60 }), plain);
    const line = (epoch: number) => lines.find((one) => one.startsWith(`${String(epoch).padStart(5)} `)) ?? '';
    expect(line(1)).toMatch(/crashed .* {2}█+× +lived 1m 2s$/);
    expect(line(2)).toMatch(/draining .*█▒+ /);
    expect(line(3)).toMatch(/live .*█ +117\/s 1\.0 fail {2}57 MiB$/);
    expect(line(0)).toMatch(/ended +█+▒+▪ +lived 2m 25s$/);
  });

  it('shows of the log what is asked for alone: the level, the epoch, the text', () => {
    const told = { level: 'warn', selected: 1, filter: 'ENVOY.main' } as const;
    const lines = topScreen(watched({ width: 200, height: 60 }, told), plain);
    const shown = lines.slice(lines.findIndex((one) => one.startsWith('LOG')) + 1).filter((one) => /^\d/.test(one));
    const wanted = log.filter((one) => one.level !== 'debug' && one.level !== 'info' && one.epoch === 1 && one.component === 'envoy.main');
    expect(wanted.length).toBeGreaterThan(3);
    expect(shown.map((one) => /line (\d+)/.exec(one)?.[1])).toEqual(wanted.map(({ id }) => String(id)));
  });

  it('shows no rate where counts begin anew, and none of one report', () => {
    const [one, other] = traffic.slice(-2).map((report, index) => (index === 0 ? report : { ...report, requests: 1 }));
    const state = watched({ width: 200, height: 60 }, { traffic: [one, other].flatMap((report) => report ?? []) });
    expect(topScreen(state, plain)[2]).toMatch(/^requests\/s {5}0 /);
    expect(topScreen({ ...state, traffic: state.traffic.slice(1) }, plain)[2]).toMatch(/^requests\/s {5}0 /);
    expect(topScreen(watched({ width: 200, height: 60 }), plain)[2]).toMatch(/^requests\/s {3}117 .*█ {2}failures\/s {3}1\.0 /);
    expect(topScreen(watched({ width: 200, height: 60 }), plain)[3]).toContain('Envoy 97 MiB 25 % CPU  agent 71 MiB 1 % CPU');
  });
});
