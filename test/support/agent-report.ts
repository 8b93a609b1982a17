import type { AgentReport } from '../../src/pilot-agent/report/agent-report.ts';
import type { EpochReport } from '../../src/pilot-agent/report/epoch-report.ts';

const start = Date.parse('2026-11-22T12:00:00.000Z');

/** Returns the time that is `seconds` after the start of the agent of these reports, as ISO. */
export function atSecond(seconds: number): string {
  return new Date(start + seconds * 1_000).toISOString();
}

/** Returns the report of an epoch that is LIVE; `fields` replace its fields. */
export function epochReport(epoch: number, fields: Partial<EpochReport> = {}): EpochReport {
  return {
    epoch,
    state: 'live',
    pid: 4_000 + epoch,
    hash: `${epoch}a1b2c3d4e5f60718293a4b5c6d7e8f9`,
    lineage: 0,
    why: epoch === 0 ? 'first' : 'change',
    changed:
      epoch === 0
        ? []
        : [
            {
              source: 'server certificate',
              part: '/etc/certs/cert-chain.pem',
              from: 'serial 01',
              to: 'serial 02',
            },
          ],
    launchedAt: atSecond(1 + 100 * epoch),
    spawnedAt: atSecond(1.01 + 100 * epoch),
    liveAt: atSecond(1.231 + 100 * epoch),
    startMs: 231,
    ...fields,
  };
}

/** Four epochs: one was replaced, one crashed, one drains, and one is LIVE. */
export const fourEpochs: readonly EpochReport[] = [
  epochReport(0, {
    state: 'ended',
    toldToDrainAt: atSecond(101.5),
    endedAt: atSecond(146.5),
    drainMs: 45_000,
    lifeMs: 145_500,
    exit: { kind: 'clean', expected: true, lastWords: [] },
  }),
  epochReport(1, {
    state: 'ended',
    endedAt: atSecond(163),
    lifeMs: 62_000,
    exit: {
      kind: 'signaled',
      expected: false,
      signal: 'SIGSEGV',
      cause: '[critical] assert failure: x != nullptr',
      lastWords: ['[critical] assert failure: x != nullptr', 'Caught \u001b[31mSegmentation fault'],
    },
  }),
  epochReport(2, { state: 'draining', why: 'again', changed: [], toldToDrainAt: atSecond(301.3) }),
  epochReport(3),
];

/** Returns the report of a ready agent of a mesh after 5 minutes; `fields` replace its fields. */
export function agentReport(fields: Partial<AgentReport> = {}): AgentReport {
  return {
    at: atSecond(310),
    agent: {
      version: '0.1.0',
      node: '20.20.2',
      pid: 4242,
      startedAt: atSecond(0),
      role: 'sidecar',
      nodeId: 'sidecar~10.1.2.3~pod.ns~ns.svc.cluster.local',
      configPath: '/etc/istio/proxy',
      statusPort: 15020,
      adminPort: 15000,
      envoy: { path: '/usr/local/bin/envoy', version: '1.36.2' },
      configuration: 'generated',
    },
    phase: 'running',
    ready: { ok: true },
    live: { ok: true },
    readyAfterMs: 512,
    notes: [],
    epochs: fourEpochs,
    crashes: { count: 0, budget: 10 },
    certificates: [
      {
        name: 'default',
        source: 'file /etc/certs/cert-chain.pem',
        by: 'push',
        subject: 'O=Example, CN=pod',
        subjectAltNames: ['spiffe://cluster.local/ns/ns/sa/default', 'DNS:pod.ns.svc'],
        serialNumber: '1F2E3D4C5B6A',
        notBefore: atSecond(-3_600),
        notAfter: atSecond(82_800),
      },
      {
        name: 'ROOTCA',
        source: 'file /etc/certs/root-cert.pem',
        by: 'file',
        subject: 'O=Example, CN=root',
        subjectAltNames: [],
        serialNumber: '01',
        notBefore: atSecond(-9_000_000),
        notAfter: atSecond(1_000_000),
      },
    ],
    sources: [
      {
        name: 'server certificate',
        kind: 'files',
        as: 'certificate',
        effect: 'restart',
        state: 'read',
        hash: '9f8e7d6c5b4a',
        readAt: atSecond(300),
        changedAt: atSecond(301),
        readings: 7,
        failures: 0,
        changes: 3,
      },
      {
        name: 'mesh',
        state: 'failing',
        reason: '/etc/istio/config/mesh: EACCES: permission denied',
        since: atSecond(200),
        hash: '',
        readings: 1,
        failures: 4,
        changes: 0,
      },
    ],
    controlPlane: {
      address: 'istiod.istio-system.svc:15012',
      by: 'agent',
      state: 'answering',
      pushedAt: atSecond(298),
      rejected: [],
    },
    pushes: [{ at: atSecond(250), secret: 'default', version: '2', state: 'accepted' }],
    stored: [],
    counters: {
      changes: 4,
      windows: 3,
      restarts: 3,
      refusals: 0,
      crashes: 1,
      rescues: 0,
      drains: 1,
    },
    ...fields,
  };
}

/** The report of an agent that is neither ready nor live, with every kind of trouble. */
export const inTrouble: AgentReport = agentReport({
  phase: 'draining',
  ready: {
    ok: false,
    reason: 'Envoy does not answer: \u001b[2Jconnect ECONNREFUSED\n127.0.0.1:15000',
  },
  live: { ok: false, reason: 'Envoy hangs' },
  notes: ['configuration refused: no such cluster', 'the certificate expires in 2 h: ★ 証明書 ★'],
  epochs: [epochReport(0, { state: 'live', answering: false })],
  next: { epoch: 1, stage: 'checking', hash: 'ffeeddccbbaa' },
  refused: { at: atSecond(290), hash: '0011223344', reason: 'field type: unknown type ‘STATICC’' },
  crashes: { count: 2, budget: 10, retryAt: atSecond(312.4) },
  controlPlane: {
    address: 'istiod:15012',
    by: 'agent',
    state: 'unavailable',
    reason: 'connect ECONNREFUSED 10.0.0.1:15012',
    since: atSecond(100),
    storedOf: atSecond(50),
    rejected: [{ type: 'Cluster', at: atSecond(120), reason: 'outbound|80||a: no such field' }],
  },
});
