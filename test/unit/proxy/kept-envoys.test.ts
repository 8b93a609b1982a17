import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type AdoptedEnvoy, adoptedEnvoys } from '../../../src/proxy/adopted-envoys.ts';
import { startTime } from '../../../src/proxy/proc.ts';

const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-kept-'));
const file = join(folder, 'envoy-kept.json');
const addressFile = join(folder, 'envoy-admin-address');

/** Returns arguments by which a process looks like an Envoy. */
const options = (restartEpoch: number) => [
  '--restart-epoch',
  String(restartEpoch),
  '--base-id',
  '7',
  '--admin-address-path',
  addressFile,
];
const envoy = (restartEpoch: number) =>
  spawn('sh', ['-c', 'read -r _', 'envoy', ...options(restartEpoch)]);
const processes = [envoy(0), envoy(1)];
const [parent, child] = processes;
const record = (
  envoyProcess: typeof parent,
  fields: Partial<Record<keyof AdoptedEnvoy, unknown>> = {},
) => {
  const pid = envoyProcess?.pid ?? 0;
  return {
    epoch: 3,
    restartEpoch: 0,
    lineage: 0,
    pid,
    baseId: 7,
    socketPath: '',
    startTime: startTime(pid),
    addressFile,
    ...fields,
  };
};
const adoptedPids = (text: string) => {
  writeFileSync(file, text, { mode: 0o600 });
  return adoptedEnvoys(file).map(({ pid }) => pid);
};

afterAll(() => {
  for (const envoyProcess of processes) envoyProcess.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const link = (path: string) => {
  renameSync(path, `${path}.real`);
  symlinkSync(`${path}.real`, path);
};

describe('Envoys that were kept', () => {
  it('are found again with all that was written down, the oldest first', () => {
    const all = [record(parent), record(child, { epoch: 4, restartEpoch: 1 })];
    writeFileSync(file, JSON.stringify(all), { mode: 0o600 });
    expect(adoptedEnvoys(file)).toEqual(all);
  });

  it.each<[string, Partial<Record<keyof AdoptedEnvoy, unknown>>]>([
    ['whose number belongs to another process now, with another start', { startTime: '1' }],
    [
      'whose number is that of somebody else',
      { pid: process.pid, startTime: startTime(process.pid) },
    ],
    ['whose number is nobody’s', { pid: 2 ** 22 + 1 }],
    ['with another base id', { baseId: 8 }],
    ['of another epoch', { restartEpoch: 1 }],
    ['without a start time', { startTime: undefined }],
    ['with a number that is a text', { pid: String(parent?.pid) }],
    ['with its address in another folder', { addressFile: '/etc/passwd' }],
    ['with its address above its folder', { addressFile: `${folder}/../envoy-admin-address` }],
    [
      'with another file of its folder for its address',
      { addressFile: `${folder}/envoy-kept.json` },
    ],
    ['with sockets that it has not', { socketPath: `${folder}/envoy-7/s` }],
    ['with sockets elsewhere', { socketPath: '/etc/s' }],
  ])('are not mistaken: one %s', (_, fields) => {
    expect(
      adoptedPids(JSON.stringify([record(parent, fields), record(child, { restartEpoch: 1 })])),
    ).toEqual([child?.pid]);
  });

  it.each(['', 'garbage', '[', 'null', '{}', '7', '[null, 7, "x", [], {}]'])(
    'are none if the file says %j',
    (text) => {
      expect(adoptedPids(text)).toEqual([]);
    },
  );

  it('of an earlier agent have abstract sockets: nothing is written of them', () => {
    const { socketPath, ...earlier } = record(parent);
    writeFileSync(file, JSON.stringify([earlier]), { mode: 0o600 });
    expect(adoptedEnvoys(file)).toEqual([{ ...earlier, socketPath }]);
  });

  it('have the sockets that are written down', () => {
    const [ownSocket, elsewhere] = [`${folder}/envoy-7/s`, '/etc/s'];
    const with_ = (socketPath: string) => {
      const envoyProcess = spawn('sh', [
        '-c',
        'read -r _',
        'envoy',
        ...options(0),
        '--socket-path',
        socketPath,
      ]);
      processes.push(envoyProcess);
      return record(envoyProcess, { socketPath });
    };
    const good = with_(ownSocket);
    const bad = [with_(elsewhere), { ...good, socketPath: '' }];
    expect(adoptedPids(JSON.stringify([good, ...bad]))).toEqual([good.pid]);
  });

  it.each([
    ['is open to others', (path: string) => chmodSync(path, 0o644)],
    ['belongs to somebody else', (path: string) => chownSync(path, 1, 1)],
    ['is a link', link],
  ])('are none if the file %s', (_, spoil) => {
    if (process.getuid?.() !== 0) return;
    const text = JSON.stringify([record(parent)]);
    expect(adoptedPids(text)).toEqual([parent?.pid]);
    spoil(file);
    expect(adoptedEnvoys(file)).toEqual([]);
    rmSync(file);
  });

  it('of another user are none', () => {
    if (process.getuid?.() !== 0) return;
    const foreignEnvoy = spawn('sh', ['-c', 'read -r _', 'envoy', ...options(0)], { uid: 65_534 });
    processes.push(foreignEnvoy);
    expect(adoptedPids(JSON.stringify([record(foreignEnvoy), record(parent)]))).toEqual([
      parent?.pid,
    ]);
  });

  it('are none without a file, and none of another folder', () => {
    expect(adoptedEnvoys(join(folder, 'missing.json'))).toEqual([]);
    const other = mkdtempSync(join(folder, 'other-'));
    writeFileSync(join(other, 'envoy-kept.json'), JSON.stringify([record(parent)]), {
      mode: 0o600,
    });
    expect(adoptedEnvoys(join(other, 'envoy-kept.json'))).toEqual([]);
  });

  it('are gone once they have ended, waited for or not', async () => {
    const zombie = spawn('sh', ['-c', '(exit 0) & echo $!; exec sleep 30']);
    const [text] = (await once(zombie.stdout, 'data')) as [Buffer];
    const pid = Number(String(text));
    await expect.poll(() => startTime(pid)).toBeUndefined();
    zombie.kill('SIGKILL');
    expect(startTime(2 ** 22 + 1)).toBeUndefined();
    expect(startTime(process.pid)).toMatch(/^\d+$/);
  });
});
