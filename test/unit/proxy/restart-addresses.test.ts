import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { reserveBaseId, sharedMemoryOf } from '../../../src/proxy/base-ids.ts';
import {
  isRestartAddress,
  type RestartAddress,
  restartAddresses,
  removeRestartSockets,
} from '../../../src/proxy/restart-addresses.ts';

let folder: string;
let cleared: (() => void)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-addresses-'));
  cleared = [];
});
afterEach(() => {
  for (const clear of cleared) clear();
  rmSync(folder, { recursive: true, force: true });
});

/** A base id above all that an agent draws. */
const baseId = 700_000_000 + process.pid;
const reservations = (id = baseId) =>
  readdirSync('/dev/shm').filter((name) => name.startsWith(`pilot-agent-${id}-`));
const addresses = (where = folder) => restartAddresses(where, () => reserveBaseId(() => baseId));
const make = (from: ReturnType<typeof addresses>) => {
  const address = from.make();
  cleared.push(() => from.clear(address));
  return address;
};
/** Opens the sockets that Envoy opens. */
const open = async ({ socketPath }: RestartAddress) => {
  const names = ['parent', 'child', 'udp_parent', 'udp_child'].map(
    (role) => `${socketPath}_${role}_${baseId * 10}`,
  );
  for (const name of names)
    await new Promise<void>((done) => createServer().listen(name, done).unref());
};
const mode = (path: string) => statSync(path).mode & 0o777;

describe('the restart address of a lineage', () => {
  it('is a folder of its owner alone in that of the agent, and a base id that is reserved', async () => {
    const all = addresses();
    const address = make(all);
    expect(address).toEqual({ baseId, socketPath: join(folder, `envoy-${baseId}`, 's') });
    expect(mode(dirname(address.socketPath))).toBe(0o700);
    expect(reservations()).toHaveLength(1);
    await open(address);
    writeFileSync(sharedMemoryOf(baseId), '');
    all.clear(address);
    expect([readdirSync(folder), reservations(), existsSync(sharedMemoryOf(baseId))]).toEqual([
      [],
      [],
      false,
    ]);
  });

  it.each([67, 68])('has paths that Envoy can open if the folder has %i bytes', (length) => {
    const long = join(folder, 'x'.repeat(length - folder.length - 1));
    mkdirSync(long);
    const id = 199_999_999; // the longest id that is drawn
    const address = restartAddresses(long, () => ({ baseId: id, release: () => undefined })).make();
    expect(Buffer.byteLength(`${address.socketPath}_udp_parent_${id}2`)).toBeLessThanOrEqual(107);
    expect(dirname(dirname(address.socketPath))).toBe(length === 67 ? long : tmpdir());
    expect(mode(dirname(address.socketPath))).toBe(0o700);
    expect(isRestartAddress(address, long)).toBe(true);
    restartAddresses(long).clear(address);
    expect(existsSync(dirname(address.socketPath))).toBe(false);
  });

  it('is elsewhere if the folder has no room, and in /dev/shm if nothing else has', () => {
    const address = make(addresses(join(folder, 'no')));
    expect(address.socketPath).toMatch(/^\/\S+\/pilot-agent-\w{6}\/s$/);
    expect(dirname(dirname(address.socketPath))).toBe(tmpdir());
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = join(folder, 'no');
    try {
      const last = make(restartAddresses(join(folder, 'no')));
      expect(dirname(dirname(last.socketPath))).toBe('/dev/shm');
      expect(isRestartAddress(last, folder)).toBe(true);
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  });

  it('is entered by the next agent, and stays when an agent leaves its Envoys there', () => {
    const first = addresses();
    const address = make(first);
    writeFileSync(sharedMemoryOf(baseId), '');
    first.leave(address);
    expect([
      reservations().length,
      existsSync(dirname(address.socketPath)),
      existsSync(sharedMemoryOf(baseId)),
    ]).toEqual([0, true, true]);
    const next = addresses();
    next.enter(address);
    next.enter(address);
    expect(reservations()).toHaveLength(1);
    next.clear(address);
    expect([
      reservations().length,
      readdirSync(folder),
      existsSync(sharedMemoryOf(baseId)),
    ]).toEqual([0, [], false]);
  });

  it('of abstract sockets has no folder that could be removed', () => {
    const [all, address] = [addresses(), { baseId, socketPath: '' }];
    all.enter(address);
    all.clear(address);
    expect(reservations()).toEqual([]);
    expect(existsSync('src')).toBe(true);
  });
});

describe('what dead Envoys have left', () => {
  it('is removed, but what is kept, what is open to others and what is not a folder stay', async () => {
    const address = make(addresses());
    await open(address);
    const kept = join(folder, 'envoy-2');
    mkdirSync(kept, { mode: 0o700 });
    mkdirSync(join(folder, 'envoy-3'), { mode: 0o755 });
    mkdirSync(join(folder, 'elsewhere'), { mode: 0o700 });
    writeFileSync(join(folder, 'elsewhere', 'file'), '');
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'envoy-4'));
    writeFileSync(join(folder, 'envoy-5'), '');
    removeRestartSockets(folder, [{ baseId: 2, socketPath: join(kept, 's') }]);
    expect(readdirSync(folder)).toEqual(['elsewhere', 'envoy-2', 'envoy-3', 'envoy-4', 'envoy-5']);
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual(['file']);
  });
});

it.each([
  '/tmp/s',
  '/etc/passwd',
  '/tmp/pilot-agent-abcdef/s',
  '/run/envoy-8/s',
  '/run/envoy-7/../s',
  '/run/envoy-7/t',
  'envoy-7/s',
  '@x',
])('a path that somebody else may have written down is none: %s', (socketPath) => {
  expect(isRestartAddress({ baseId: 7, socketPath }, '/run')).toBe(false);
  expect(isRestartAddress({ baseId: 7, socketPath: '/run/envoy-7/s' }, '/run')).toBe(true);
});
