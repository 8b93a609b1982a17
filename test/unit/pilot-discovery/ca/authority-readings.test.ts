import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuthorityReading } from '../../../../src/pilot-discovery/ca/authority-files.ts';
import { authorityReadings } from '../../../../src/pilot-discovery/ca/authority-readings.ts';
import { writeKubernetesVolume } from '../../../../demo/certificates.ts';
import type { AuthorityParts } from '../../../../src/pilot-discovery/ca/signing-authority.ts';
import { pluggedAuthority, testIssuer } from '../../../support/plugged-authority.ts';

const fail = (error: unknown): never => {
  throw error as Error;
};

const hour = 3_600_000;
let folder: string;
let readings: AuthorityReading[];
let subscriptions: Subscription[];
const path = (...names: readonly string[]) => join(folder, ...names);
const rootFile = () => path('state', 'root.pem');

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-cacerts-'));
  readings = [];
  subscriptions = [];
});
afterEach(() => {
  for (const subscription of subscriptions) subscription.unsubscribe();
  rmSync(folder, { recursive: true });
});

function read(rootLifetime = hour, into = readings): void {
  const places = { folder: path('cacerts'), rootFile: rootFile(), rootLifetime };
  subscriptions.push(
    authorityReadings(places).subscribe({ next: (reading) => into.push(reading), error: fail }),
  );
}

const filesOf = ({ certificate, key, chain, roots }: AuthorityParts): Record<string, string> => ({
  'ca-cert.pem': certificate,
  'ca-key.pem': key.toString(),
  'cert-chain.pem': chain,
  'root-cert.pem': roots,
});
const mount = (files: Readonly<Record<string, string>>) =>
  writeKubernetesVolume(path('cacerts'), files);

const last = () => readings.at(-1);
const rootsOf = (reading: AuthorityReading | undefined) =>
  reading?.type === 'authority'
    ? reading.authority.roots.join('')
    : reading?.type === 'refused'
      ? reading.reason
      : undefined;
const becomes = (expected: unknown) => expect.poll(() => rootsOf(last())).toEqual(expected);

describe('a folder with cacerts', () => {
  it('may have CRLs, which are read again when they change', async () => {
    const parts = await pluggedAuthority();
    const crls = () =>
      readings.map((reading) => (reading.type === 'authority' ? reading.crl : reading));
    mount(filesOf(parts));
    read();
    await expect.poll(crls).toEqual([{ kind: 'absent' }]);
    mount({ ...filesOf(parts), 'ca-crl.pem': 'crl' });
    await expect.poll(crls).toEqual([{ kind: 'absent' }, { kind: 'text', text: 'crl' }]);
    mount({ ...filesOf(parts), 'ca-crl.pem': ' '.repeat((1 << 20) + 1) });
    await expect
      .poll(() => crls().at(-1))
      .toMatchObject({
        kind: 'unreadable',
        reason: expect.stringMatching(/^it cannot be read: /) as unknown,
      });
  });

  it('is read at once, and after each change of all files at once', async () => {
    const [first, second] = await Promise.all([pluggedAuthority(), pluggedAuthority()]);
    mount(filesOf(first));
    read();
    await becomes(first.roots);
    mount(filesOf(second));
    await becomes(second.roots);
    expect(readings.map(({ type }) => type)).toEqual(['authority', 'authority']);
  });

  it('is read after a change of files one by one, which is not reported if it is quick', async () => {
    const [root, next] = await Promise.all([testIssuer(), testIssuer({ subject: 'CN=next' })]);
    const first = await pluggedAuthority({}, root);
    const second = await pluggedAuthority({}, next);
    mount(filesOf(first));
    read();
    await becomes(first.roots);
    for (const [name, text] of Object.entries(filesOf(second))) {
      writeFileSync(path('new'), text);
      renameSync(path('new'), path('cacerts', name));
    }
    await becomes(second.roots);
    expect(readings.map(({ type }) => type)).toEqual(['authority', 'authority']);
  });

  it('may have two roots while the root changes', async () => {
    const [first, next] = await Promise.all([
      pluggedAuthority(),
      testIssuer({ subject: 'CN=next' }),
    ]);
    mount(filesOf(first));
    read();
    await becomes(first.roots);
    mount(filesOf({ ...first, roots: first.roots + next.certificate }));
    await becomes(first.roots + next.certificate);
  });

  it('is refused with one reason if its files do not fit, and heals', async () => {
    const [first, second] = await Promise.all([pluggedAuthority(), pluggedAuthority()]);
    mount(filesOf(first));
    read();
    await becomes(first.roots);
    mount(filesOf({ ...first, key: second.key }));
    await becomes(expect.stringContaining('the key does not match the certificate'));
    expect(rootsOf(last())).toContain(path('cacerts'));
    mount(filesOf(first));
    await becomes(first.roots);
    expect(readings).toHaveLength(3);
  });

  it.each(['ca-cert.pem', 'ca-key.pem', 'root-cert.pem'])(
    'is refused without %s, and no other root is made',
    async (name) => {
      const files = Object.entries(filesOf(await pluggedAuthority()));
      mount(Object.fromEntries(files.filter(([file]) => file !== name)));
      read();
      await becomes(expect.stringMatching(new RegExp(`cacerts/${name}: ENOENT`)));
      expect(readdirSync(folder)).toEqual(['cacerts']);
    },
  );

  it('is refused while its key is empty, or no file, and heals', async () => {
    const parts = await pluggedAuthority();
    mount({ ...filesOf(parts), 'ca-key.pem': '' });
    read();
    await becomes(expect.stringContaining('the key is empty'));
    unlinkSync(path('cacerts', 'ca-key.pem'));
    mkdirSync(path('cacerts', 'ca-key.pem'));
    await becomes(expect.stringContaining('ca-key.pem: it is a directory, and not a regular file'));
    rmdirSync(path('cacerts', 'ca-key.pem'));
    mount(filesOf(parts));
    await becomes(parts.roots);
  });

  it('is absent if it is empty, and no self-signed root is named', async () => {
    const places = { folder: path('cacerts'), rootFile: '', rootLifetime: hour };
    subscriptions.push(
      authorityReadings(places).subscribe({
        next: (reading) => readings.push(reading),
        error: fail,
      }),
    );
    await expect.poll(() => readings).toEqual([{ type: 'absent' }]);
    const parts = await pluggedAuthority();
    mount(filesOf(parts));
    await becomes(parts.roots);
    rmSync(path('cacerts'), { recursive: true });
    await expect.poll(() => last()).toEqual({ type: 'absent' });
  });

  it('is refused when it expires', async () => {
    const parts = await pluggedAuthority({ notAfter: Date.now() + 2_500 });
    mount(filesOf(parts));
    read();
    await becomes(parts.roots);
    await becomes(expect.stringContaining('the certificate has expired at'));
  });
});

describe('a self-signed root', () => {
  it('is made once, in a file of its owner, and used again', async () => {
    read();
    await expect.poll(() => last()?.type).toBe('authority');
    expect(statSync(rootFile()).mode & 0o777).toBe(0o600);
    expect(readdirSync(path('state'))).toEqual(['root.pem']);
    const again: AuthorityReading[] = [];
    read(hour, again);
    await expect.poll(() => again).toHaveLength(1);
    expect(rootsOf(again[0])).toBe(rootsOf(last()));
  });

  it('lasts as long as it should', async () => {
    const before = Date.now();
    read(7 * hour);
    await expect.poll(() => last()?.type).toBe('authority');
    const end = (reading = last()) =>
      reading?.type === 'authority' ? reading.authority.notAfter : NaN;
    expect(end()).toBeGreaterThanOrEqual(before + 7 * hour - 1_000);
    expect(end()).toBeLessThanOrEqual(Date.now() + 7 * hour);
  });

  it('is one if many begin at once', async () => {
    const all = Array.from({ length: 20 }, (): AuthorityReading[] => []);
    for (const into of all) read(hour, into);
    await expect.poll(() => all.every((some) => some.length > 0)).toBe(true);
    expect(new Set(all.map(([reading]) => rootsOf(reading))).size).toBe(1);
    expect(readdirSync(path('state'))).toEqual(['root.pem']);
  });

  it('is verified by OpenSSL as a root', async () => {
    read();
    await expect.poll(() => last()?.type).toBe('authority');
    writeFileSync(path('root'), rootsOf(last()) ?? '');
    const args = ['verify', '-x509_strict', '-CAfile', path('root'), path('root')];
    expect((await promisify(execFile)('openssl', args)).stdout).toContain('OK');
  });

  it('stays if its file is gone, and is not replaced', async () => {
    read();
    await expect.poll(() => last()?.type).toBe('authority');
    const text = readFileSync(rootFile());
    unlinkSync(rootFile());
    await becomes(expect.stringContaining('root.pem is gone, and no other authority is there'));
    expect(readdirSync(path('state'))).toEqual([]);
    writeFileSync(rootFile(), text, { mode: 0o600 });
    await expect.poll(() => last()?.type).toBe('authority');
  });

  it('is made again if it has expired and its file is gone', async () => {
    read(2_000);
    await expect.poll(() => last()?.type).toBe('authority');
    const first = rootsOf(last());
    await becomes(expect.stringContaining('has expired at'));
    unlinkSync(rootFile());
    await expect.poll(() => last()?.type).toBe('authority');
    expect(rootsOf(last())).not.toBe(first);
  });

  it('is refused if every user can read its file', async () => {
    read();
    await expect.poll(() => last()?.type).toBe('authority');
    chmodSync(rootFile(), 0o644);
    const again: AuthorityReading[] = [];
    read(hour, again);
    await expect
      .poll(() => rootsOf(again[0]))
      .toContain('root.pem: every user can read it: run chmod 600');
    chmodSync(rootFile(), 0o600);
    await expect.poll(() => again.at(-1)?.type).toBe('authority');
  });

  it('is refused if its file is not a root, and that file stays', async () => {
    read();
    await expect.poll(() => last()?.type).toBe('authority');
    writeFileSync(rootFile(), 'mine');
    await becomes(expect.stringContaining('root.pem'));
    expect(last()?.type).toBe('refused');
    expect(readFileSync(rootFile(), 'utf8')).toBe('mine');
  });

  it('is not used if the folder has an authority', async () => {
    read();
    await expect.poll(() => last()?.type).toBe('authority');
    const parts = await pluggedAuthority();
    mount(filesOf(parts));
    await becomes(parts.roots);
  });
});
