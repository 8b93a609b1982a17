import type { AgentReport } from '../../../src/pilot-agent/report/agent-report.ts';
import type { EpochReport } from '../../../src/pilot-agent/report/epoch-report.ts';
import type { ServiceReport } from '../../../src/pilot-agent/report/request-report.ts';
import type {
  LiveEvent,
  LogReport,
  TrafficReport,
} from '../../../src/pilot-agent/report/live-events.ts';

/** Returns a time, in ms since 1970, as ISO. */
const iso = (time: number) => new Date(time).toISOString();

/**
 * Returns the reports of an agent after 9 minutes with rotations, a crash, a rejected configuration
 * and pushes. The reports are of the time `now`.
 */
export function aLife(now: number): {
  readonly report: AgentReport;
  readonly traffic: readonly TrafficReport[];
  readonly service: ServiceReport;
  readonly log: readonly LogReport[];
} {
  const start = now - 9 * 60_000;
  const epochs = someEpochs(start, now);
  const report: AgentReport = {
    at: iso(now),
    agent: {
      version: '0.1.0',
      node: 'v20.20.2',
      pid: 4711,
      startedAt: iso(start - 500),
      role: 'sidecar',
      nodeId: 'sidecar~10.0.0.7~web-6d4c-x2x.shop~shop.svc.cluster.local',
      configPath: '/etc/istio/proxy',
      statusPort: 15_020,
      adminPort: 15_000,
      envoy: { path: '/usr/local/bin/envoy', version: '1.40.1' },
      configuration: 'generated',
    },
    phase: 'running',
    ready: { ok: true },
    live: { ok: true },
    readyAfterMs: 512,
    notes: [],
    epochs,
    refused: {
      at: iso(now - 40_000),
      hash: '81c2f0aa',
      reason: 'static_resources.clusters[0].type: no such value: STATIK',
    },
    crashes: { count: 1, budget: 10 },
    certificates: [
      {
        name: 'default',
        source: 'istiod.istio-system.svc:15012',
        by: 'push',
        subject: '',
        subjectAltNames: ['spiffe://cluster.local/ns/shop/sa/web'],
        serialNumber: '1F8A4C90D2',
        notBefore: iso(now - 3_600_000),
        notAfter: iso(now + 82_000_000),
      },
      {
        name: 'ROOTCA',
        source: 'file /etc/certs/root-cert.pem',
        by: 'file',
        subject: 'O=cluster.local',
        subjectAltNames: [],
        serialNumber: '03',
        notBefore: iso(now - 86_400_000 * 340),
        notAfter: iso(now + 86_400_000 * 25),
      },
    ],
    sources: [
      {
        name: 'certificates',
        kind: 'files',
        effect: 'restart',
        state: 'read',
        hash: 'a1',
        readings: 4,
        failures: 0,
        changes: 3,
        changedAt: iso(now - 200_000),
      },
      {
        name: 'mesh',
        kind: 'file',
        effect: 'restart',
        state: 'read',
        hash: 'b2',
        readings: 1,
        failures: 0,
        changes: 0,
      },
      {
        name: 'routes',
        kind: 'http',
        effect: 'restart',
        state: 'failing',
        reason: 'http://config.shop/routes answers 503',
        since: iso(now - 30_000),
        hash: 'c3',
        readings: 9,
        failures: 2,
        changes: 1,
        changedAt: iso(now - 400_000),
      },
    ],
    controlPlane: {
      address: 'istiod.istio-system.svc:15012',
      by: 'agent',
      state: 'answering',
      pushedAt: iso(now - 12_000),
      rejected: [],
    },
    pushes: [
      { at: iso(now - 300_000), secret: 'default', version: '3', state: 'accepted' },
      { at: iso(now - 60_000), secret: 'default', version: '4', state: 'accepted' },
    ],
    stored: [],
    counters: {
      changes: 5,
      windows: 4,
      restarts: 4,
      refusals: 1,
      crashes: 1,
      rescues: 0,
      drains: 0,
    },
  };
  return {
    report,
    traffic: someTraffic(now, epochs),
    service: someService(now),
    log: someLines(now, 400),
  };
}

/** Returns the events that a page first receives from an agent with this life. */
export function firstEvents(
  { report: { epochs, ...report }, traffic, service, log }: ReturnType<typeof aLife>,
  withLog = true,
): readonly LiveEvent[] {
  const events: readonly LiveEvent[] = [
    { event: 'report', data: report },
    { event: 'epochs', data: epochs },
    { event: 'traffic', data: traffic },
    { event: 'service', data: service },
  ];
  return withLog ? [...events, { event: 'log', data: log }] : events;
}

function someService(now: number): ServiceReport {
  const names = Array.from(
    { length: 24 },
    (_, index) => `outbound|80||service-${index}.shop.svc.cluster.local`,
  );
  return {
    at: iso(now),
    state: 'answering',
    overMs: 60_000,
    inbound: { requests: 9_120, failures: 4, p50Ms: 3.4, p99Ms: 41.2 },
    outbound: { requests: 4_410, failures: 0, p50Ms: 2.1, p99Ms: 18.9 },
    clusters: {
      count: 24,
      unhealthy: 2,
      first: names.map((name, index) => ({
        name,
        healthy: index === 0 ? 0 : index === 1 ? 2 : 3,
        total: 3,
      })),
    },
    listeners: {
      count: 2,
      first: [
        { name: 'virtualInbound', address: '0.0.0.0:15006', connections: 31 },
        { name: 'virtualOutbound', address: '0.0.0.0:15001', connections: 3 },
      ],
    },
  };
}

function someEpochs(start: number, now: number): readonly EpochReport[] {
  const base = { lineage: 1, changed: [] };
  const clean = { kind: 'clean', expected: true, code: 0, lastWords: [] } as const;
  const certificate = [
    { source: 'certificates', part: '/etc/certs/cert-chain.pem', from: '6b3f9a12', to: 'aa01be77' },
  ];
  return [
    life(
      { ...base, epoch: 0, hash: '6b3f9a12', why: 'first', pid: 101 },
      start,
      start + 480,
      start + 90_000,
      start + 135_000,
      clean,
    ),
    life(
      { ...base, epoch: 1, hash: 'aa01be77', why: 'change', changed: certificate, pid: 131 },
      start + 89_000,
      start + 89_600,
      undefined,
      start + 210_000,
      {
        kind: 'signaled',
        expected: false,
        signal: 'SIGSEGV',
        cause: '[critical] Caught Segmentation fault, suspect faulting address 0x0',
        lastWords: [
          '[critical] Caught Segmentation fault, suspect faulting address 0x0',
          '[critical] #0: Envoy::Server::InstanceBase::run()',
        ],
      },
    ),
    life(
      { ...base, epoch: 2, hash: 'aa01be77', why: 'again', pid: 140 },
      start + 210_400,
      start + 211_300,
      start + 330_000,
      start + 375_000,
      clean,
    ),
    life(
      {
        ...base,
        epoch: 3,
        hash: '0f77c41d',
        why: 'by hand',
        changed: [{ source: 'POST /restart', part: '' }],
        pid: 155,
      },
      start + 329_200,
      start + 330_000,
      now - 30_000,
    ),
    life(
      {
        ...base,
        epoch: 4,
        hash: '92b0aa3e',
        why: 'change',
        changed: [...certificate, { source: 'mesh', part: '' }],
        pid: 171,
      },
      now - 30_600,
      now - 30_000,
    ),
  ];
}

type Born = Pick<EpochReport, 'epoch' | 'hash' | 'why' | 'pid' | 'lineage' | 'changed'>;

function life(
  born: Born,
  launched: number,
  live?: number,
  drain?: number,
  end?: number,
  exit?: EpochReport['exit'],
): EpochReport {
  const state =
    end !== undefined
      ? 'ended'
      : drain !== undefined
        ? 'draining'
        : live !== undefined
          ? 'live'
          : 'starting';
  return {
    ...born,
    state,
    ...(state === 'live' && { answering: true }),
    launchedAt: iso(launched),
    spawnedAt: iso(launched + 6),
    ...(live !== undefined && { liveAt: iso(live), startMs: live - launched }),
    ...(drain !== undefined && { toldToDrainAt: iso(drain) }),
    ...(end !== undefined && { endedAt: iso(end), lifeMs: end - launched }),
    ...(drain !== undefined && end !== undefined && { drainMs: end - drain }),
    ...(exit !== undefined && { exit }),
  };
}

function someTraffic(now: number, epochs: readonly EpochReport[]): readonly TrafficReport[] {
  const counts = new Map<number, { requests: number; failures: number }>();
  return Array.from({ length: 540 }, (_, index): TrafficReport => {
    const time = now - (540 - index) * 1_000;
    const running = epochs.filter(
      ({ liveAt, endedAt }) =>
        liveAt !== undefined &&
        Date.parse(liveAt) <= time &&
        (endedAt === undefined || Date.parse(endedAt) > time),
    );
    const newest = running.at(-1)?.epoch;
    for (const { epoch } of running) {
      const count = counts.get(epoch) ?? { requests: 0, failures: 0 };
      const share = epoch === newest ? 1 : 0.12;
      const requests = Math.round(
        (120 + 40 * Math.sin(index / 23) + 15 * Math.sin(index / 3)) * share,
      );
      counts.set(epoch, {
        requests: count.requests + requests,
        failures: count.failures + (index % 97 < 4 ? Math.round(requests / 20) : 0),
      });
    }
    const byEpoch = [...counts].map(([epoch, count]) => ({ epoch, ...count }));
    const sum = (what: 'requests' | 'failures') =>
      byEpoch.reduce((all, counts) => all + counts[what], 0);
    return {
      at: iso(time),
      ...(newest !== undefined && { epoch: newest }),
      requests: sum('requests'),
      failures: sum('failures'),
      connections: 34 + Math.round(6 * Math.sin(index / 40)),
      active: 3 + (index % 5),
      byEpoch,
      processes: [
        {
          what: 'agent',
          pid: 4711,
          residentBytes: 62_000_000 + (index % 7) * 90_000,
          cpuSeconds: 1 + index * 0.012,
        },
        ...running.map(({ epoch, pid = 0 }) => ({
          what: 'envoy' as const,
          epoch,
          pid,
          residentBytes: 48_000_000 + index * 12_000,
          cpuSeconds: index * 0.11,
        })),
      ],
    };
  });
}

const messages: readonly (readonly [LogReport['level'], string, string, string])[] = [
  ['info', 'agent', 'epoch.live', 'the epoch is live'],
  ['debug', 'watcher', 'source.changed', 'a source says that something may have changed'],
  ['info', 'envoy', 'envoy.output', 'all clusters initialized. initializing init manager'],
  ['warn', 'envoy', 'envoy.output', 'gRPC config stream closed: 14, connection refused'],
  ['error', 'agent', 'epoch.failed', 'the epoch has crashed'],
  ['debug', 'sds', 'secret.pushed', 'a secret is pushed'],
];

/** Returns lines of a log; the newest is 250 ms before `now`. */
export function someLines(now: number, count: number, first = 0): readonly LogReport[] {
  return Array.from({ length: count }, (_, index): LogReport => {
    const id = first + index;
    const [level, component, event, msg] = messages[id % messages.length] ?? [
      'info',
      'agent',
      'a',
      'a',
    ];
    return {
      id,
      at: iso(now - (count - index) * 250),
      level,
      component,
      event,
      msg,
      ...(id % 3 === 0 && { epoch: id % 5 }),
      fields: { id, path: `/etc/certs/part-${id % 17}.pem`, hash: 'aa01be77' },
    };
  });
}
