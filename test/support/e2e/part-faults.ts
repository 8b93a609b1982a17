import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { writeCertificates } from '../../../demo/certificates.ts';
import { servedSerial } from '../../../demo/served-serial.ts';
import type { LogEvent } from '../../../src/shared/log/log-event.ts';
import type { Part } from '../../../src/pilot-agent/run/state/part.ts';
import { connects } from '../connects.ts';
import { eventually } from '../eventually.ts';
import type { Fault } from './inject.ts';
import type { Rig, RunningAgent } from './rig.ts';

/** An agent, one of whose parts fails. */
export interface Scene {
  readonly rig: Rig;
  readonly agent: RunningAgent;
  readonly stsPort: number;
}

/** The fault of a part, and the check whether the part works again. */
interface PartFault {
  readonly fault: Fault;
  /** Returns the argument of the fault. */
  readonly given?: (rig: Rig, stsPort: number) => string;
  /**
   * The trigger of the fault once it is armed: the part itself, a new certificate, or the next
   * event of an epoch.
   */
  readonly by: 'itself' | 'a change' | 'an epoch';
  /** Whether the agent pushes certificates to Envoy. */
  readonly isPushed?: true;
  /** Whether Envoy's configuration names the socket of the xDS proxy. */
  readonly isProxied?: true;
  readonly isBack: (scene: Scene) => boolean | Promise<boolean>;
}

const key = ({ certDir }: Rig) => join(certDir, 'key.pem');

export const partFaults: Readonly<Record<Part, PartFault>> = {
  status: {
    fault: 'server',
    given: ({ ports }) => String(ports.status),
    by: 'itself',
    isBack: async ({ rig }) => (await rig.ready()).status !== 0,
  },
  sts: {
    fault: 'server',
    given: (_, port) => String(port),
    by: 'itself',
    isBack: async ({ stsPort }) => (await answer(stsPort, '/stsStatus')).status === 200,
  },
  sds: { fault: 'pack', by: 'a change', isPushed: true, isBack: ({ rig }) => servesNewest(rig) },
  xds: {
    fault: 'server',
    given: () => 'XDS',
    by: 'itself',
    isProxied: true,
    isBack: ({ rig }) => connects(join(rig.folder, 'run', 'XDS')),
  },
  secrets: {
    fault: 'hash',
    given: key,
    by: 'a change',
    isPushed: true,
    isBack: ({ rig }) => servesNewest(rig),
  },
  // The change at which it failed is not lost.
  sources: {
    fault: 'hash',
    given: key,
    by: 'a change',
    isBack: ({ agent }) => saidAfter(agent, ['config.read', 'config.changed']),
  },
  expiry: {
    fault: 'expiry',
    by: 'an epoch',
    isBack: async ({ rig }) =>
      Math.abs(
        Number(await metric(rig, certificateExpires)) - (expiresAt(rig) - Date.now() / 1_000),
      ) < 30,
  },
  log: {
    fault: 'words',
    by: 'a change',
    isBack: ({ rig, agent }) => touched(rig, () => saidAfter(agent, ['config.change_seen'])),
  },
  timeline: { fault: 'past', by: 'an epoch', isBack: ({ rig }) => countsChanges(rig) },
};

const certificateExpires = 'istio_agent_cert_expiry_seconds\\{resource_name="file-cert:.*"\\}';

/**
 * Resolves to the answer of a port. If there is none, the status code is 0, and the body is the
 * error.
 */
function answer(
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((done) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      response.on('end', () => done({ status: response.statusCode ?? 0, body }));
    }).on('error', ({ message }) => done({ status: 0, body: message }));
  });
}

/** Resolves to the value of a time series at the status port; undefined if there is none. */
async function metric({ ports }: Rig, series: string): Promise<string | undefined> {
  const { body } = await answer(ports.status, '/stats/prometheus');
  return new RegExp(`^${series} (\\S+)$`, 'm').exec(body)?.[1];
}

/** Resolves to the number of failures of a part that the status port reports. */
export function failuresOf(part: Part, rig: Rig): Promise<string | undefined> {
  return metric(rig, `istio_agent_part_failures_total\\{part="${part}"\\}`);
}

const certificate = ({ certDir }: Rig) =>
  new X509Certificate(readFileSync(join(certDir, 'cert-chain.pem')));
const expiresAt = (rig: Rig) => Date.parse(certificate(rig).validTo) / 1_000;

/** Writes a certificate that expires a minute later than the one on disk. */
export async function writeNew(rig: Rig): Promise<void> {
  writeCertificates(
    rig.certDir,
    await rig.ca.issue({ notAfter: new Date(expiresAt(rig) * 1_000 + 60_000) }),
  );
}

/** Whether a new client receives the certificate that is on disk. */
export async function servesNewest(rig: Rig): Promise<boolean> {
  return (await servedSerial(rig.ports.listen, rig.ca.rootCert)) === certificate(rig).serialNumber;
}

/**
 * Writes the configuration file again, unchanged. Resolves to whether `isSeen` holds within a
 * second.
 */
async function touched(rig: Rig, isSeen: () => boolean | Promise<boolean>): Promise<boolean> {
  writeFileSync(rig.config, readFileSync(rig.config));
  return eventually(isSeen, { within: 1_000 }).catch(() => false);
}

async function countsChanges(rig: Rig): Promise<boolean> {
  const counted = () => metric(rig, 'istio_agent_config_changes_total');
  const before = await counted();
  return touched(rig, async () => (await counted()) !== before);
}

/** Whether the agent has logged one of these events after the failure of a part. */
function saidAfter(agent: RunningAgent, events: readonly LogEvent[]): boolean {
  const log = agent.log();
  return log
    .slice(log.findIndex(({ event }) => event === 'part.failed'))
    .some(({ event }) => events.includes(event));
}
