import { writeHeapSnapshot } from 'node:v8';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, from, Subject, type Subscription, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuthorityReading } from '../../../../src/pilot-discovery/ca/authority-files.ts';
import { filesElseSecrets } from '../../../../src/pilot-discovery/ca/files-else-secrets.ts';
import { secretReadings } from '../../../../src/pilot-discovery/ca/secret-readings.ts';
import type { AuthorityParts } from '../../../../src/pilot-discovery/ca/signing-authority.ts';
import { type FakeKube, fakeKube, type KubeDocument } from '../../../support/fake-kube.ts';
import { pluggedAuthority, testIssuer } from '../../../support/plugged-authority.ts';

const fail = (error: unknown): never => {
  throw error as Error;
};

const hour = 3_600_000;
const namespace = 'istio-system';
let kube: FakeKube;
let readings: AuthorityReading[];
let subscriptions: Subscription[];

beforeEach(() => {
  kube = fakeKube();
  readings = [];
  subscriptions = [];
});
afterEach(() => {
  for (const subscription of subscriptions) subscription.unsubscribe();
});

function read(into = readings): void {
  subscriptions.push(
    secretReadings(kube.api, { namespace, rootLifetime: hour }).subscribe({
      next: (reading) => into.push(reading),
      error: fail,
    }),
  );
}

const secret = (name: string, data: Readonly<Record<string, unknown>>): KubeDocument => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace, name },
  data,
});
const bytes = (text: string) => Buffer.from(text);
const cacerts = ({ certificate, key, chain, roots }: AuthorityParts): KubeDocument =>
  secret('cacerts', {
    'ca-cert.pem': bytes(certificate),
    'ca-key.pem': Buffer.from(key), // the reader overwrites it
    'cert-chain.pem': bytes(chain),
    'root-cert.pem': bytes(roots),
  });

const last = (list = readings) => list.at(-1);
const rootsOf = (reading: AuthorityReading | undefined) =>
  reading?.type === 'authority'
    ? reading.authority.roots.join('')
    : reading?.type === 'refused'
      ? reading.reason
      : undefined;
const becomes = (expected: unknown) => expect.poll(() => rootsOf(last())).toEqual(expected);
const created = () => kube.requests.filter((question) => question === 'create secrets').length;

describe('the Secret cacerts', () => {
  it('is read at once, and after each change, also with two roots', async () => {
    const [root, next] = await Promise.all([testIssuer(), testIssuer({ subject: 'CN=next' })]);
    const first = await pluggedAuthority({}, root);
    const second = await pluggedAuthority({}, next);
    kube.put(cacerts(first));
    read();
    await becomes(root.certificate);
    expect(last()).toMatchObject({ path: 'Secret/istio-system/cacerts' });
    kube.put(cacerts({ ...first, roots: root.certificate + next.certificate }));
    await becomes(root.certificate + next.certificate);
    kube.put(cacerts({ ...second, roots: root.certificate + next.certificate }));
    kube.put(cacerts(second));
    await becomes(next.certificate);
    expect(created()).toBe(0);
  });

  it('may have the keys of the type kubernetes.io/tls', async () => {
    const root = await testIssuer();
    const { certificate, key } = await pluggedAuthority({}, root);
    const data = { 'tls.crt': bytes(certificate), 'tls.key': key };
    kube.put(secret('cacerts', { ...data, 'ca.crt': bytes(root.certificate) }));
    read();
    await becomes(root.certificate);
  });

  it.each(['ca-cert.pem', 'ca-key.pem', 'root-cert.pem'])(
    'is refused without %s, makes no root, and heals',
    async (name) => {
      const parts = await pluggedAuthority();
      const whole = cacerts(parts);
      kube.put(secret('cacerts', { ...(whole['data'] as object), [name]: bytes('') }));
      read();
      await becomes(`Secret/istio-system/cacerts: ${name} is missing`);
      kube.put(cacerts(parts));
      await becomes(parts.roots);
      expect(created()).toBe(0);
    },
  );

  it('stays in use if its successor is refused or it is removed', async () => {
    const [parts, other] = await Promise.all([pluggedAuthority(), pluggedAuthority()]);
    kube.put(cacerts(parts));
    read();
    await becomes(parts.roots);
    kube.put(cacerts({ ...parts, key: other.key }));
    await becomes(expect.stringContaining('the key does not match the certificate'));
    kube.put(cacerts(parts));
    await becomes(parts.roots);
    kube.remove(cacerts(parts));
    await becomes('Secret/istio-system/cacerts and Secret/istio-system/istio-ca-secret are gone');
    expect(created()).toBe(0);
  });

  it('is awaited while the API is away, and nothing is made', async () => {
    const parts = await pluggedAuthority();
    kube.put(cacerts(parts));
    kube.stop();
    read();
    await becomes('Secret/istio-system/cacerts: connect ECONNREFUSED');
    kube.start();
    await becomes(parts.roots);
    kube.stop();
    kube.start();
    kube.put(cacerts({ ...parts, roots: parts.roots + (await testIssuer()).certificate }));
    await expect.poll(() => readings.length).toBe(3);
    expect(readings.map(({ type }) => type)).toEqual(['refused', 'authority', 'authority']);
    expect(created()).toBe(0);
  });

  it('is needed even if only the right to read it is missing', async () => {
    kube.forbid('secrets');
    read();
    await becomes('Secret/istio-system/cacerts: secrets is forbidden');
    expect(created()).toBe(0);
    kube.allow('secrets');
    await expect.poll(() => last()?.type).toBe('authority');
  });
});

describe('without cacerts', () => {
  it('makes one root if several programs start at once, and all read it', async () => {
    const all = Array.from({ length: 20 }, (): AuthorityReading[] => []);
    for (const into of all) read(into);
    await expect
      .poll(() => all.map((into) => last(into)?.type))
      .toEqual(all.map(() => 'authority'));
    expect(new Set(all.map((into) => rootsOf(last(into)))).size).toBe(1);
    expect(created()).toBeGreaterThan(0);
    expect(last(all[0])).toMatchObject({ path: 'Secret/istio-system/istio-ca-secret' });
  });

  it('reads the Secret of istiod, with and without a root beside its certificate', async () => {
    const root = await testIssuer();
    const data = { 'ca-cert.pem': bytes(root.certificate), 'root-cert.pem': bytes('') };
    kube.put(secret('istio-ca-secret', { ...data, 'ca-key.pem': Buffer.from(root.key) }));
    read();
    await becomes(root.certificate);
    expect(created()).toBe(0);
  });

  it('says why it cannot make one, and tries again', async () => {
    kube.protect('secrets');
    read();
    await becomes('Secret/istio-system/istio-ca-secret cannot be made: secrets: cannot create');
    kube.unprotect('secrets');
    await expect.poll(() => last()?.type).toBe('authority');
    expect(created()).toBeGreaterThan(1);
  });

  it('takes cacerts as soon as it is there', async () => {
    const parts = await pluggedAuthority();
    read();
    await expect.poll(() => last()?.type).toBe('authority');
    kube.put(cacerts(parts));
    await becomes(parts.roots);
  });

  it('has no key in a snapshot of the heap', async () => {
    let sent: Buffer | undefined;
    const api: FakeKube['api'] = {
      ...kube.api,
      create: (path, body) => {
        sent = Buffer.from(body as Uint8Array);
        return kube.api.create(path, body);
      },
    };
    subscriptions.push(
      secretReadings(api, { namespace, rootLifetime: hour }).subscribe({
        next: (reading) => readings.push(reading),
        error: fail,
      }),
    );
    await expect.poll(() => last()?.type).toBe('authority');
    const folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-heap-'));
    try {
      const heap = readFileSync(writeHeapSnapshot(join(folder, 'heap')));
      const start = (sent?.indexOf('"ca-key.pem":"') ?? 0) + '"ca-key.pem":"'.length;
      // The key begins with its label; the compared bytes are inside of its base64.
      expect(sent?.toString('latin1', start, start + 12)).toBe('LS0tLS1CRUdJ');
      const inside = sent?.subarray(start + 60, start + 100) ?? '';
      expect(heap.includes(inside)).toBe(false);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('filesElseSecrets', () => {
  const absent: AuthorityReading = { type: 'absent' };
  const refused = (reason: string): AuthorityReading => ({ type: 'refused', reason });

  it('takes Secrets while there are no files, and files when they come', async () => {
    const authority = { type: 'authority', path: 'folder' } as AuthorityReading;
    const secret = refused('of the Secret');
    const emitted = (...files: readonly AuthorityReading[]) =>
      firstValueFrom(filesElseSecrets(from(files), from([secret])).pipe(toArray()), {
        defaultValue: [],
      });
    expect(await emitted(absent)).toEqual([secret]);
    expect(await emitted(refused('half'), absent)).toEqual([refused('half'), secret]);
    expect(await emitted(absent, authority)).toEqual([secret, authority]);
    expect(await emitted(authority, absent)).toEqual([authority, absent]);
  });

  it('keeps Secrets that are in use while there are broken files', () => {
    const emitted: AuthorityReading[] = [];
    const [files$, secret$] = [new Subject<AuthorityReading>(), new Subject<AuthorityReading>()];
    subscriptions.push(
      filesElseSecrets(files$, secret$).subscribe({
        next: (reading) => emitted.push(reading),
        error: fail,
      }),
    );
    files$.next(absent);
    secret$.next(refused('first'));
    files$.next(refused('half'));
    secret$.next(refused('second'));
    expect(secret$.observed).toBe(true);
    files$.next(absent);
    expect(emitted).toEqual([refused('first'), refused('half'), refused('second')]);
    files$.next({ type: 'authority', path: 'folder' } as AuthorityReading);
    expect(secret$.observed).toBe(false);
  });
});
