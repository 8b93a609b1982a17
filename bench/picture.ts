import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { writeCertificates } from '../demo/certificates.ts';
import { startLoad } from '../test/support/load.ts';
import { type LogLine, makeRig } from '../test/support/e2e/rig.ts';

/**
 * Draws docs/picture.svg from a real run under load: a certificate rotates, an Envoy is killed, and
 * the agent gets SIGTERM.
 */

const path = 'docs/picture.svg';
/** The time between two counts of the requests. In ms. */
const step = 150;
const flags = [
  '--drainDuration',
  '2s',
  '--parentShutdownDuration',
  '3s',
  '--minDelay',
  '100ms',
  '--log_output_level',
  'default:debug',
];
const env = { MINIMUM_DRAIN_DURATION: '2s', TERMINATION_DRAIN_DURATION_SECONDS: '5' };

interface Sample {
  readonly time: number;
  readonly answered: number;
  readonly failed: number;
}

/** When an Envoy process was started, first served, and ended. In ms from the agent's start. */
interface Life {
  readonly epoch: number;
  readonly started: number;
  readonly live: number;
  readonly ended: number;
}

interface Mark {
  readonly time: number;
  readonly text: string;
}

const rig = await makeRig();
const samples: Sample[] = [];
const marks: Mark[] = [];
try {
  const start = Date.now();
  const since = () => Date.now() - start;
  const mark = (text: string) => marks.push({ time: since(), text });
  const agent = rig.start(flags, { env });
  await agent.said('epoch.live', 0);
  const tls = { ca: rig.ca.rootCert };
  const loads = (['keep-alive', 'new-connection'] as const).map((mode) =>
    startLoad({ port: rig.ports.listen, tls, mode, clients: 2, pause: 5, maxDuration: Infinity }),
  );
  const count = () => {
    const [ok, failed] = (['ok', 'failed'] as const).map((name) =>
      loads.reduce((sum, { counts }) => sum + counts[name], 0),
    );
    samples.push({ time: since(), answered: ok ?? 0, failed: failed ?? 0 });
  };
  const counting = setInterval(count, step);
  await pause(3_000);
  for (const epoch of [1, 2]) {
    mark('certificate rotates');
    writeCertificates(rig.certDir, await rig.ca.issue());
    await agent.said('epoch.live', epoch);
    await pause(5_000);
  }
  mark('Envoy is killed');
  process.kill(Number((await agent.said('epoch.started', 2))['pid']), 'SIGKILL');
  await agent.said('epoch.live', 3);
  await pause(3_000);
  await Promise.all(loads.map((load) => load.stop()));
  count();
  clearInterval(counting);
  mark('SIGTERM');
  agent.kill('SIGTERM');
  const { code } = await agent.exit;
  const end = since();
  writeFileSync(path, drawing(samples, lives(agent.log(), start, end), marks, end));
  console.log(
    `${path}: ${samples.at(-1)?.answered} answered, ${samples.at(-1)?.failed} failed, exit code ${code}`,
  );
} finally {
  await rig.dispose();
}

function lives(log: readonly LogLine[], start: number, end: number): readonly Life[] {
  const eventTime = (events: readonly string[], epoch: number) => {
    const line = log.find(
      ({ event, epoch: lineEpoch }) => lineEpoch === epoch && events.includes(event),
    );
    return line === undefined ? undefined : Date.parse(String(line['time'])) - start;
  };
  const epochs = log.flatMap(({ event, epoch }) =>
    event === 'epoch.started' && epoch !== undefined ? [epoch] : [],
  );
  return epochs.map((epoch) => {
    const started = eventTime(['epoch.started'], epoch) ?? 0;
    return {
      epoch,
      started,
      live: eventTime(['epoch.live'], epoch) ?? end,
      ended: eventTime(['epoch.ended', 'epoch.failed', 'epoch.crashed'], epoch) ?? end,
    };
  });
}

function drawing(
  counts: readonly Sample[],
  epochs: readonly Life[],
  events: readonly Mark[],
  end: number,
): string {
  const [width, left, right] = [760, 96, 12];
  const x = (time: number) => (left + (time / end) * (width - left - right)).toFixed(1);
  const rates = counts.slice(1).map(({ time, answered }, index) => ({
    time,
    rate:
      ((answered - (counts[index]?.answered ?? 0)) / (time - (counts[index]?.time ?? 0))) * 1_000,
  }));
  const most = Math.ceil(Math.max(...rates.map(({ rate }) => rate)) / 100) * 100;
  const [top, height] = [36, 90];
  const y = (rate: number) => (top + height - (rate / most) * height).toFixed(1);
  const rowsTop = top + height + 18;
  const rowHeight = 20;
  const axis = rowsTop + epochs.length * rowHeight + 6;
  const { answered = 0, failed = 0 } = counts.at(-1) ?? {};
  const cut = counts
    .slice(1)
    .flatMap(({ time, failed: sum }, index) =>
      sum > (counts[index]?.failed ?? 0) ? [{ from: counts[index]?.time ?? 0, to: time }] : [],
    );
  const failureText =
    failed === 0
      ? 'none failed'
      : `${failed} failed, from ${seconds(cut[0]?.from ?? 0)} to ${seconds(cut.at(-1)?.to ?? 0)}`;
  const area = [
    `M${x(rates[0]?.time ?? 0)},${y(0)}`,
    ...rates.map(({ time, rate }) => `L${x(time)},${y(rate)}`),
    `L${x(rates.at(-1)?.time ?? 0)},${y(0)}Z`,
  ];
  const bars = epochs.flatMap(({ epoch, started, live, ended }, row) => {
    const successor = epochs[row + 1]?.live ?? events.at(-1)?.time ?? end;
    const serves = Math.min(successor, ended);
    const bar = (from: number, to: number, kind: string) =>
      `<rect class="${kind}" x="${x(from)}" y="${rowsTop + row * rowHeight}" width="${Math.max(Number(x(to)) - Number(x(from)), 1).toFixed(1)}" height="12" rx="2"/>`;
    return [
      `<text x="${left - 8}" y="${rowsTop + row * rowHeight + 10}" text-anchor="end">epoch ${epoch}</text>`,
      bar(started, live, 'starts'),
      bar(live, serves, 'serves'),
      ...(ended > serves ? [bar(serves, ended, 'drains')] : []),
    ];
  });
  const ticks = Array.from({ length: Math.floor(end / 5_000) + 1 }, (_, index) => index * 5);
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${axis + 40}" role="img" aria-labelledby="title description" font-family="system-ui, sans-serif" font-size="11">`,
    '<title id="title">Requests per second and Envoy processes during a run of pilot-agent</title>',
    `<desc id="description">A certificate rotates twice, an Envoy is killed, and the agent is asked to end. ${answered} requests were answered, ${failureText}.</desc>`,
    '<style>text{fill:#444}.grid{stroke:#ccc}.rate{fill:#7aa7d9}.failed{fill:#c0392b;opacity:.5}.starts{fill:#f0c75e}.serves{fill:#4f9d69}.drains{fill:#b9c4bd}.mark{stroke:#c0392b;stroke-dasharray:3 3}@media(prefers-color-scheme:dark){text{fill:#ccc}.grid{stroke:#555}}</style>',
    `<text x="${left - 8}" y="${top + 8}" text-anchor="end">${most} req/s</text><text x="${left - 8}" y="${top + height}" text-anchor="end">0</text>`,
    `<line class="grid" x1="${left}" x2="${width - right}" y1="${top + height}" y2="${top + height}"/>`,
    `<path class="rate" d="${area.join('')}"/>`,
    ...cut.map(
      ({ from, to }) =>
        `<rect class="failed" x="${x(from)}" y="${top}" width="${(Number(x(to)) - Number(x(from))).toFixed(1)}" height="${height}"/>`,
    ),
    ...bars,
    ...events.map(
      ({ time, text }, index) =>
        `<line class="mark" x1="${x(time)}" x2="${x(time)}" y1="${top - 6}" y2="${axis}"/><text x="${x(time)}" y="${top - 12}" text-anchor="${index === events.length - 1 ? 'end' : 'middle'}">${text}</text>`,
    ),
    ...ticks.map(
      (second) =>
        `<text x="${x(second * 1_000)}" y="${axis + 12}" text-anchor="middle">${second} s</text>`,
    ),
    ...(['starts', 'serves', 'drains'] as const).map(
      (kind, index) =>
        `<rect class="${kind}" x="${left + index * 80}" y="${axis + 22}" width="10" height="10" rx="2"/><text x="${left + 15 + index * 80}" y="${axis + 31}">${kind}</text>`,
    ),
    `<text x="${width - right}" y="${axis + 31}" text-anchor="end">${answered} requests answered, ${failureText}</text>`,
    '</svg>',
  ].join('\n')}\n`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
