import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { meshAuthority } from '../../demo/mesh-authority.ts';
import type { Command } from '../../demo/mesh-agent.ts';
import { realEnvoy } from '../support/e2e/bad-input-program.ts';
import { type RunningAgent, startAgent } from '../support/e2e/rig.ts';
import type { Running } from '../support/e2e/running.ts';
import { asUser } from '../support/e2e/sidecar-pod.ts';
import { twoSidecarsRig, type TwoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';
import type { WorkloadPair } from '../support/workload-authority.ts';
import { connects } from '../support/connects.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { type Entry, type Spire, startSpire, trustDomain } from './spire.ts';

export const names = ['client', 'echo'] as const;
export type Name = (typeof names)[number];

/** Two sidecars whose only identity is that of SPIRE, and a control plane with another root. */
export interface SpireStage {
  readonly rig: TwoSidecarsRig;
  readonly spire: Spire;
  readonly agents: Readonly<Record<Name, RunningAgent>>;
  readonly discovery: () => Running;
  /** The secure port, and the root of its certificate. */
  readonly secure: number;
  readonly root: string;
  /** The names of the entries of SPIRE. */
  readonly entries: Map<Name, string>;
  readonly entryOf: (name: Name) => Entry;
  restartDiscovery(): Promise<void>;
  dispose(): Promise<void>;
}

/** How long a certificate lasts, in seconds. SPIRE renews it when half of that is over. */
export const lifetime = 40;
const users: Readonly<Record<Name, number>> = { client: 2_001, echo: 2_002 };
const namespaces: Readonly<Record<Name, string>> = { client: 'shop', echo: 'default' };
export const identityOf = (name: Name): string =>
  `spiffe://${trustDomain}/ns/${namespaces[name]}/sa/${name}`;

/** @param programs the folder of the programs of SPIRE */
export async function startSpireStage(programs: string): Promise<SpireStage> {
  const rig = await twoSidecarsRig();
  const { folder } = rig;
  execFileSync('chmod', ['755', folder]);
  mkdirSync(join(folder, 'spire'), { mode: 0o755 });
  const spire = await startSpire(programs, join(folder, 'spire'));
  spire.writeRoots();
  const entryOf = (name: Name): Entry => ({ id: identityOf(name), user: users[name], lifetime });
  const entries = new Map(names.map((name) => [name, spire.register(entryOf(name))]));

  const [secure = 0] = await freePorts(1);
  const authority = meshAuthority(folder, { args: [], env: {} }, secure);
  const flags = [...authority.discovery.args, '--caCertFile', spire.rootsFile];
  const env = { ...authority.discovery.env, ISTIOD_CUSTOM_HOST: 'localhost,istiod.test' };
  const start = () => rig.startDiscovery(flags, env);
  let discovery = start();
  const root = (await authority.root(AbortSignal.timeout(60_000))) ?? '';
  await eventually(() => connects(secure), { within: 60_000 });
  // With this rule, each request is a connection of its own between the two Envoys.
  rig.write('40-route.yaml', rig.read('40-route.yaml').replace('host: echo.mesh\n', once));
  const agents = Object.fromEntries(
    names.map((name) => {
      const place = join(folder, name);
      const mounted = join(place, 'var/run/secrets');
      mkdirSync(join(mounted, 'istio'), { recursive: true });
      mkdirSync(join(mounted, 'workload-spiffe-uds'));
      copyFileSync(authority.rootFile, join(mounted, 'istio/root-cert.pem'));
      symlinkSync(spire.socket, join(mounted, 'workload-spiffe-uds/socket'));
      copyFileSync(realEnvoy(), join(place, 'envoy')); // this user may execute it there
      const agent = spireAgent(rig.agents[name], secure, place, users[name]);
      return [name, agent] as const;
    }),
  ) as Record<Name, RunningAgent>;
  return {
    ...{ rig, spire, agents, secure, root, entries, entryOf },
    discovery: () => discovery,
    async restartDiscovery() {
      await discovery.end('SIGTERM');
      discovery = start();
      await eventually(() => connects(secure), { within: 60_000 });
    },
    async dispose() {
      for (const agent of Object.values(agents)) {
        agent.kill('SIGTERM');
        await agent.exit;
      }
      await spire.dispose();
      await rig.dispose();
    },
  };
}

/** The part of a DestinationRule after its host. */
const once = `host: echo.mesh
  trafficPolicy: { connectionPool: { http: { maxRequestsPerConnection: 1 } } }
`;

/** Starts an agent in a folder, as a user, without a token or a certificate. */
function spireAgent(
  { args, env: { PROV_CERT: certificates = '', ...env } }: Command,
  secure: number,
  place: string,
  user: number,
): RunningAgent {
  rmSync(certificates, { recursive: true });
  execFileSync('chown', ['-R', `${user}:${user}`, place]);
  return startAgent(
    place,
    [
      ...args,
      ...['--discoveryAddress', `localhost:${secure}`, '--controlPlaneAuthPolicy', 'MUTUAL_TLS'],
      ...['--binaryPath', join(place, 'envoy'), '--log_output_level=default:info'],
    ],
    env,
    { cwd: place, wrap: asUser(user) },
  );
}

/** Resolves to the SVID that SPIRE gives to the user of this process. */
export async function ownSvid({ rig, spire }: SpireStage): Promise<WorkloadPair> {
  const folder = join(rig.folder, 'own');
  await spire.fetch(folder);
  return {
    chain: readFileSync(join(folder, 'svid.0.pem'), 'utf8'),
    key: readFileSync(join(folder, 'svid.0.key'), 'utf8'),
  };
}
