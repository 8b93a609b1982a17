import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { leftOut } from '../support/left-out.ts';

const matrix = [process.execPath, '--import', 'tsx', 'test/support/status-matrix.ts'] as const;
const other = '10.99.0.1';
/**
 * The command that gives a program a network of its own, in which the machine has an address
 * outside of the loopback ranges.
 */
const namespace = [
  'unshare',
  '-n',
  'sh',
  '-c',
  `ip link set lo up && ip addr add ${other}/32 dev lo && exec "$@"`,
  'sh',
] as const;
const permitted =
  spawnSync('unshare', ['-n', 'sh', '-c', `ip link set lo up && ip addr add ${other}/32 dev lo`])
    .status === 0;
const local = ['127.0.0.1', '::1'];
/** Other addresses of the loopback interface. Envoy's inbound passthrough comes from the first. */
const passed = ['127.0.0.6', '127.8.8.8'];

const control = ['/quitquitquit', '/drain', '/restart', '/logging'];
const inside = [
  '/debug/epochs',
  '/debug/status',
  '/debug/events',
  '/debug/sources',
  '/debug/config',
  '/debug/pprof/profile',
  '/debug/pprof/heap',
  '/',
];
const open: Readonly<Record<string, string>> = { '/app-health/a/livez': '400' };

/** Returns the status that a request of this path, method, address and origin should get. */
function expected(path: string, method: string, address: string, origin: string): string {
  const methods = control.includes(path)
    ? ['POST']
    : inside.includes(path)
      ? ['GET', 'HEAD']
      : undefined;
  if (methods === undefined) return open[path] ?? '200';
  if (!local.includes(address)) return '403';
  if (!methods.includes(method)) return '405';
  if (origin !== '-') return '403';
  return path.startsWith('/debug/pprof/') ? '401' : '200';
}

describe('the status port', () => {
  it('lets nobody else change or see anything: every endpoint, by every method, from here and from elsewhere, with and without a foreign origin', () => {
    if (!permitted) leftOut('a network namespace: requests from another address of the machine');
    const command = permitted
      ? [...namespace, ...matrix, ...local, ...passed, other]
      : [...matrix, '127.0.0.1', ...passed];
    const [file = '', ...args] = command;
    const lines = execFileSync(file, args, { encoding: 'utf8' }).trim().split('\n');
    const events = lines.pop();
    const wrong = lines.filter((line) => {
      const [path = '', method = '', address = '', origin = '', status = ''] = line.split(' ');
      return status !== expected(path, method, address, origin);
    });
    expect(wrong).toEqual([]);
    expect(lines).toHaveLength(18 * 4 * (permitted ? 5 : 3) * 2);
    const each = permitted ? local : ['127.0.0.1'];
    const requestedEvents = [
      'quit-requested',
      'drain-requested',
      'restart-requested',
      'level-requested',
    ];
    expect(events).toBe(
      `EVENTS ${requestedEvents.flatMap((event) => each.map(() => event)).join(' ')}`,
    );
  });
});
