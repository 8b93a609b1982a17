import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Place } from '../relay.ts';

/** A part of the network with its own address. */
export interface NetworkPlace {
  readonly address: string;
  /** The start of a command line that runs a command here. */
  readonly enter: readonly string[];
  /** Forwards connections to here, or from here, by a program that runs here as root. */
  relay(routes: readonly (readonly [from: Place, to: Place])[]): Promise<void>;
  /**
   * Redirects inbound and outbound connections to the ports of a sidecar that runs as that user.
   */
  capture(user: number): void;
}

/**
 * Network namespaces of the kernel on one bridge. The machine itself has no interface in the
 * network.
 */
export interface Network {
  /** The folder for files that belong to the network. */
  readonly folder: string;
  /** The first place, which has the bridge. It is a machine without a sidecar. */
  readonly outside: NetworkPlace;
  /** Makes a place. The names `hosts` mean the loopback address there. */
  place(name: string, hosts: readonly string[]): NetworkPlace;
  dispose(): void;
}

const ip = (...args: readonly string[]) =>
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
const probe = `pa-${process.pid}-probe`;

/** Whether this machine permits networks. */
export const hasNetworks: boolean = spawnSync('ip', ['netns', 'add', probe]).status === 0;
/** Whether this machine can also capture connections. */
export const canCapture: boolean =
  hasNetworks &&
  spawnSync('ip', ['netns', 'exec', probe, 'nft', 'add', 'table', 'ip', 'nat']).status === 0;
if (hasNetworks) ip('netns', 'delete', probe);

/** The number of networks that were made. Each network has its own addresses. */
let networkCount = 0;

export function makeNetwork(): Network {
  const subnet = `10.244.${networkCount++}`;
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-network-'));
  const prefix = `pa-${process.pid}-${Math.random().toString(36).slice(2, 6)}`;
  const names: string[] = [];

  const place = (name: string, hosts: readonly string[]): NetworkPlace => {
    const namespace = `${prefix}-${name}`;
    const number = names.push(namespace);
    const address = `${subnet}.${number}`;
    const within = (...args: readonly string[]) => ip('-n', namespace, ...args);
    // `ip netns exec` mounts these files over those below /etc.
    mkdirSync(filesOf(namespace), { recursive: true });
    writeFileSync(
      join(filesOf(namespace), 'hosts'),
      ['localhost', ...hosts].map((host) => `127.0.0.1 ${host}\n`).join(''),
    );
    ip('netns', 'add', namespace);
    within('link', 'set', 'lo', 'up');
    if (number === 1) within('link', 'add', 'eth0', 'type', 'bridge');
    else {
      within(
        'link',
        'add',
        'eth0',
        'type',
        'veth',
        'peer',
        'name',
        `port${number}`,
        'netns',
        names[0] ?? '',
      );
      ip('-n', names[0] ?? '', 'link', 'set', `port${number}`, 'master', 'eth0', 'up');
    }
    within('address', 'add', `${address}/24`, 'dev', 'eth0');
    within('link', 'set', 'eth0', 'up');
    if (number > 1) within('route', 'add', 'default', 'via', `${subnet}.1`);

    const enter = ['ip', 'netns', 'exec', namespace];
    return {
      address,
      enter,
      relay: (routes) =>
        new Promise((done, fail) => {
          const args = [
            ...enter.slice(1),
            process.execPath,
            '--import',
            'tsx',
            'test/support/relay-program.ts',
            ...routes.flat().map(String),
          ];
          const program = spawn('ip', args, { stdio: ['ignore', 'pipe', 'inherit'] });
          program.stdout.once('data', () => done());
          program.once('exit', (code) =>
            fail(new Error(`the relays at ${address} have ended with ${String(code)}`)),
          );
        }),
      capture: (user) =>
        execFileSync('ip', [...enter.slice(1), 'nft', '-f', '-'], { input: captured(user) }),
    };
  };
  return {
    folder,
    outside: place('outside', []),
    place,
    dispose() {
      for (const name of names) {
        const pids = execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' })
          .split('\n')
          .filter(Boolean);
        // A process may have ended since it was listed.
        spawnSync('kill', ['-KILL', ...pids]);
        ip('netns', 'delete', name);
        rmSync(filesOf(name), { recursive: true });
      }
      rmSync(folder, { recursive: true });
    },
  };
}

const filesOf = (namespace: string) => join('/etc/netns', namespace);

/**
 * Returns the rules of Istio's init container, for nftables. The sidecar connects to the
 * application from 127.0.0.6.
 */
const captured = (user: number) => `table ip sidecar {
  chain inbound {
    type nat hook prerouting priority -100;
    tcp dport { 15008, 15020, 15021, 15090 } return
    meta l4proto tcp redirect to :15006
  }
  chain outbound {
    type nat hook output priority -100;
    ip saddr 127.0.0.6 return
    oifname lo ip daddr != 127.0.0.1 meta skuid ${user} meta l4proto tcp redirect to :15006
    oifname lo return
    meta skuid ${user} return
    meta l4proto tcp redirect to :15001
  }
}
`;
