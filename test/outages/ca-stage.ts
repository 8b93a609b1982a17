import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import type { AuthorityParts } from '../../src/pilot-discovery/ca/signing-authority.ts';
import { type App, apps as movedApps, serviceOf } from '../move/apps.ts';
import { authorityFiles, strict, system } from '../move/move-stage.ts';
import { type MovedPod, type Pods, startPods } from '../move/pods.ts';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import { deployedRights } from '../support/e2e/deployed-rights.ts';
import { type KubeDiscovery, startKubeDiscovery } from '../support/e2e/kube-discovery.ts';
import { type KubeServer, startKubeServer } from '../support/e2e/kube-server.ts';
import { eventually } from '../support/eventually.ts';
import { type Clock, timeOf } from './control-planes.ts';

/** The differences from a usual control plane. */
export interface Launch {
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

/** Two sidecars with certificates of `pilot-discovery`, over a real Kubernetes API. */
export interface CaStage extends Omit<Pods, 'lead'> {
  readonly kube: KubeServer;
  /** The working directory of the control planes. */
  readonly folder: string;
  /** The folder of the key. */
  readonly cacerts: string;
  /** Returns all control planes so far. */
  instances(): readonly KubeDiscovery[];
  /** Returns the control plane to which agents are connected. */
  instance(): KubeDiscovery;
  /** Starts another control plane. It becomes `instance` when agents are sent to it. */
  start(launch?: Launch): Promise<KubeDiscovery>;
  sendTo(instance: KubeDiscovery): Promise<void>;
  /** Gives the control planes the rights of `deploy/`, without the rules that contain `except`. */
  allow(except?: string): Promise<void>;
  dispose(): Promise<void>;
}

const [web, , stock] = movedApps;
const apps: readonly App[] = [web, stock];

const side = 'pilot-discovery';

/**
 * Starts the API, control planes and two pods.
 *
 * @param plugged the authority in the folder of the key; undefined if the control planes make one
 * @param launches the control planes that start at once. Agents are connected to the first one
 */
export async function startCaStage(
  plugged: AuthorityParts | undefined,
  launches: readonly Launch[] = [{}],
): Promise<CaStage> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-ca-'));
  const cacerts = join(folder, 'etc/cacerts');
  if (plugged !== undefined) writeKubernetesVolume(cacerts, authorityFiles(plugged));
  const kube = await startKubeServer();
  const { kubeconfig } = await kube.account(system, side);
  const allow = async (except?: string): Promise<void> => {
    for (const resource of deployedRights(except)) await kube.apply(resource);
  };
  await allow();
  await kube.apply(strict);
  const pods = await startPods(kube, apps, { SECRET_TTL: '60s' });
  const instances: KubeDiscovery[] = [];
  let current: KubeDiscovery | undefined;
  const start = async ({ env = {}, clock }: Launch = {}): Promise<KubeDiscovery> => {
    const started = await startKubeDiscovery(
      { kubeconfig, folder },
      { ISTIOD_CUSTOM_HOST: serviceOf[side], POD_NAMESPACE: system, ...env, ...timeOf(clock) },
      ...['--domain', 'cluster.local'],
    );
    instances.push(started);
    return started;
  };
  const sendTo = async (next: KubeDiscovery): Promise<void> => {
    current = next;
    await pods.lead(side, next.secure);
  };
  const stage: CaStage = {
    ...{ ...pods, kube, folder, cacerts, start, sendTo, allow },
    instances: () => instances,
    instance() {
      if (current === undefined) throw new Error('no control plane has been started');
      return current;
    },
    async dispose() {
      await pods.dispose();
      await Promise.all(instances.map((each) => each.kill()));
      await kube.dispose();
      rmSync(folder, { recursive: true });
    },
  };
  try {
    const [first] = await Promise.all(launches.map(start));
    if (first !== undefined) await sendTo(first);
    await Promise.all(instances.map(untilServes));
    for (const app of apps) await pods.roll(app, side);
    for (const pod of pods.pods()) pods.traffic.begin(pod);
    return stage;
  } catch (error) {
    console.error(instances.map(({ text }) => text()).join('\n'));
    await stage.dispose();
    throw error;
  }
}

/** Resolves when a control plane is ready, and has its secure port. */
async function untilServes(instance: KubeDiscovery): Promise<void> {
  await eventually(async () => (await instance.ready()).status === 200, { within: 60_000 });
  await eventually(() => connects(instance.secure), { within: 60_000 });
}

/** Replaces the control plane by another one, without a gap. */
export async function replace(stage: CaStage, launch: Launch): Promise<void> {
  const [before, next] = [stage.instance(), await stage.start(launch)];
  await untilServes(next);
  await stage.sendTo(next);
  await before.end();
}

/** Returns the age of the certificate of each pod, in ms. */
export const agesOf = (stage: CaStage): readonly number[] =>
  stage.pods().map((pod) => {
    const { time } = lastOf(pod, ['certificate.issued']) ?? { time: '' };
    return Date.now() - Date.parse(String(time));
  });

/** Resolves when the older certificate, or the newer one, has this age. */
export async function untilAge(
  stage: CaStage,
  ms: number,
  whose: 'older' | 'newer' = 'older',
): Promise<void> {
  const isAge = () => {
    const age = Math[whose === 'older' ? 'max' : 'min'](...agesOf(stage));
    return age >= ms && age < ms + 2_000;
  };
  await eventually(isAge, { within: 120_000, every: 100 });
}

/** Returns the last line of an agent with one of these events. */
export const lastOf = ({ sidecar }: MovedPod, events: readonly string[]) =>
  sidecar.agent.log().findLast(({ event }) => events.includes(event));

/** The state of a control plane at one moment. */
export interface Condition {
  readonly ready: { readonly status: number; readonly body: string };
  /** The metrics that show a fault. */
  readonly metrics: readonly string[];
}

/** The pattern of metrics that show a fault if they are 0. */
const downAt = /^(?:pilot_source_up\{[^}]*\}|citadel_server_(?:authority|crl)_up) 0$/;
/** The pattern of metrics that show a fault if they are more than 0. */
const counts = /^((?:pilot_refused_callers|citadel_server_csr_sign_err_count)\{[^}]*\}) [1-9]\d*$/;

/** @param before the lines of counters that an earlier fault left, which are not returned */
export async function conditionOf(
  { ready, monitoring }: KubeDiscovery,
  before: readonly string[] = [],
): Promise<Condition> {
  const [{ status, body }, metrics] = await Promise.all([ready(), ask(monitoring, '/metrics')]);
  const faults = metrics.body
    .split('\n')
    .filter((line) => downAt.test(line) || (counts.test(line) && !before.includes(line)));
  return { ready: { status, body }, metrics: faults };
}
