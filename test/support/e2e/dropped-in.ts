import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { certificateAuthority, writeCertificates } from '../../../demo/certificates.ts';
import { type Answer, ask } from '../ask.ts';
import { makeRelay } from '../relay.ts';
import { realEnvoy } from './bad-input-program.ts';
import type { Injected } from './injected.ts';
import type { Mesh } from './kube.ts';
import type { Network } from './network.ts';
import { program } from './program.ts';
import { type RunningAgent, startAgent } from './rig.ts';

/**
 * This agent in the place of the Go agent: with the network, `/etc` and `/usr/local/bin` of a pod.
 * Its ports and paths are the real ones.
 */
export interface DroppedIn {
  readonly agent: RunningAgent;
  ready(): Promise<Answer>;
  /** Resolves to the answer of Envoy's admin endpoint. */
  admin(path: string): Promise<Answer>;
  /** Runs the program once more in the same pod; resolves to its exit code. */
  run(...args: readonly string[]): Promise<number | null>;
  dispose(): Promise<void>;
}

/**
 * The shell script that mounts the folders of a pod over those of the machine, then becomes the
 * command.
 */
const asPod = `
mount --bind /usr/local/bin "$0/machine" && mount --bind "$0/usr/local/bin" /usr/local/bin && mount --bind "$0/etc" /etc || exit 99
exec "$@"`;

/** Starts the agent with the arguments, variables and files of an injected container. */
export async function dropIn(
  kube: Mesh,
  network: Network,
  name: string,
  by: Injected,
): Promise<DroppedIn> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-drop-in-'));
  const path = (file: string) => join(folder, file);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(path(file)), { recursive: true });
    writeFileSync(path(file), text);
  };
  const hosts = [by.discoveryHost, 'zipkin.istio-system'];
  const place = network.place(name, hosts);
  await kube.pod(folder, 'shop', 'web');
  for (const [file, text] of Object.entries(by.files)) write(file, text);
  write('etc/hosts', ['localhost', ...hosts].map((host) => `127.0.0.1 ${host}\n`).join(''));
  write('etc/nsswitch.conf', 'hosts: files dns\n');
  mkdirSync(path('machine'));
  mkdirSync(path('usr/local/bin'), { recursive: true });
  mkdirSync(path('etc/istio/proxy'), { recursive: true });
  symlinkSync(realEnvoy(), path('usr/local/bin/envoy'));
  if (by.discoveryHost.startsWith('istio-pilot')) {
    mkdirSync(path('etc/certs')); // the folder of Citadel's certificates
    writeCertificates(path('etc/certs'), await (await certificateAuthority()).issue());
  }

  const relays = [
    makeRelay(path('xds.sock'), kube.plaintextPort),
    makeRelay(path('istiod.sock'), kube.istiodPort),
  ];
  for (const relay of relays) await relay.open();
  await place.relay([
    [15010, path('xds.sock')],
    [15012, path('istiod.sock')],
    [path('status.sock'), 15020],
    [path('admin.sock'), 15000],
  ]);
  const wrap = [...place.enter, 'sh', '-c', asPod, folder];
  const env = {
    NODE_EXTRA_CA_CERTS: '',
    POD_NAME: 'web-0',
    POD_NAMESPACE: 'shop',
    INSTANCE_IP: place.address,
    ...by.env,
  };
  const agent = startAgent(folder, by.args, env, { cwd: folder, wrap });
  return {
    agent,
    ready: () => ask(path('status.sock'), '/healthz/ready'),
    admin: (adminPath) => ask(path('admin.sock'), adminPath),
    run: (...args) =>
      new Promise((done, fail) => {
        const [file = '', ...rest] = [...wrap, ...program, ...args];
        spawn(file, rest, { cwd: folder, stdio: 'ignore' }).once('error', fail).once('exit', done);
      }),
    async dispose() {
      agent.kill('SIGKILL');
      await agent.exit;
      for (const relay of relays) await relay.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
