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
  isMeetingPlace,
  type MeetingPlace,
  meetingPlaces,
  removeMeetingPlaces,
} from '../../../src/proxy/meeting-places.ts';

let folder: string;
let cleared: (() => void)[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-places-'));
  cleared = [];
});
afterEach(() => {
  for (const clear of cleared) clear();
  rmSync(folder, { recursive: true, force: true });
});

/** Above all that an agent draws. */
const baseId = 700_000_000 + process.pid;
const reservations = (id = baseId) =>
  readdirSync('/dev/shm').filter((name) => name.startsWith(`pilot-agent-${id}-`));
const places = (where = folder) => meetingPlaces(where, () => reserveBaseId(() => baseId));
const make = (from: ReturnType<typeof places>) => {
  const place = from.make();
  cleared.push(() => from.clear(place));
  return place;
};
/** As Envoy does. */
const open = async ({ socketPath }: MeetingPlace) => {
  const names = ['parent', 'child', 'udp_parent', 'udp_child'].map(
    (role) => `${socketPath}_${role}_${baseId * 10}`,
  );
  for (const name of names)
    await new Promise<void>((done) => createServer().listen(name, done).unref());
};
const mode = (path: string) => statSync(path).mode & 0o777;

describe('where Envoys meet', () => {
  it('is a folder of its owner alone in that of the agent, and a base id that is reserved', async () => {
    const all = places();
    const place = make(all);
    expect(place).toEqual({ baseId, socketPath: join(folder, `envoy-${baseId}`, 's') });
    expect(mode(dirname(place.socketPath))).toBe(0o700);
    expect(reservations()).toHaveLength(1);
    await open(place);
    writeFileSync(sharedMemoryOf(baseId), '');
    all.clear(place);
    expect([readdirSync(folder), reservations(), existsSync(sharedMemoryOf(baseId))]).toEqual([
      [],
      [],
      false,
    ]);
  });

  it.each([67, 68])('has paths that Envoy can open where the folder has %i bytes', (length) => {
    const long = join(folder, 'x'.repeat(length - folder.length - 1));
    mkdirSync(long);
    const id = 199_999_999; // the longest that is drawn
    const place = meetingPlaces(long, () => ({ baseId: id, release: () => undefined })).make();
    expect(Buffer.byteLength(`${place.socketPath}_udp_parent_${id}2`)).toBeLessThanOrEqual(107);
    expect(dirname(dirname(place.socketPath))).toBe(length === 67 ? long : tmpdir());
    expect(mode(dirname(place.socketPath))).toBe(0o700);
    expect(isMeetingPlace(place, long)).toBe(true);
    meetingPlaces(long).clear(place);
    expect(existsSync(dirname(place.socketPath))).toBe(false);
  });

  it('is elsewhere where the folder has no room, and in /dev/shm where nothing else has', () => {
    const place = make(places(join(folder, 'no')));
    expect(place.socketPath).toMatch(/^\/\S+\/pilot-agent-\w{6}\/s$/);
    expect(dirname(dirname(place.socketPath))).toBe(tmpdir());
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = join(folder, 'no');
    try {
      const last = make(meetingPlaces(join(folder, 'no')));
      expect(dirname(dirname(last.socketPath))).toBe('/dev/shm');
      expect(isMeetingPlace(last, folder)).toBe(true);
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
  });

  it('is entered by the next agent, and stays when an agent leaves its Envoys there', () => {
    const first = places();
    const place = make(first);
    writeFileSync(sharedMemoryOf(baseId), '');
    first.leave(place);
    expect([
      reservations().length,
      existsSync(dirname(place.socketPath)),
      existsSync(sharedMemoryOf(baseId)),
    ]).toEqual([0, true, true]);
    const next = places();
    next.enter(place);
    next.enter(place);
    expect(reservations()).toHaveLength(1);
    next.clear(place);
    expect([
      reservations().length,
      readdirSync(folder),
      existsSync(sharedMemoryOf(baseId)),
    ]).toEqual([0, [], false]);
  });

  it('of abstract sockets has no folder that could be removed', () => {
    const [all, place] = [places(), { baseId, socketPath: '' }];
    all.enter(place);
    all.clear(place);
    expect(reservations()).toEqual([]);
    expect(existsSync('src')).toBe(true);
  });
});

describe('what dead Envoys have left', () => {
  it('is removed, but what is kept, what is open to others and what is no folder stay', async () => {
    const place = make(places());
    await open(place);
    const kept = join(folder, 'envoy-2');
    mkdirSync(kept, { mode: 0o700 });
    mkdirSync(join(folder, 'envoy-3'), { mode: 0o755 });
    mkdirSync(join(folder, 'elsewhere'), { mode: 0o700 });
    writeFileSync(join(folder, 'elsewhere', 'file'), '');
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'envoy-4'));
    writeFileSync(join(folder, 'envoy-5'), '');
    removeMeetingPlaces(folder, [{ baseId: 2, socketPath: join(kept, 's') }]);
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
  expect(isMeetingPlace({ baseId: 7, socketPath }, '/run')).toBe(false);
  expect(isMeetingPlace({ baseId: 7, socketPath: '/run/envoy-7/s' }, '/run')).toBe(true);
});
