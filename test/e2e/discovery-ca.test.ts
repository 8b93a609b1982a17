import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect } from 'node:tls';
import { execa } from 'execa';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import { istioAuthority } from '../../src/pilot-agent/secrets/ca/istio-authority.ts';
import { certify } from '../../src/pilot-discovery/ca/certify.ts';
import {
  type AuthorityParts,
  signingAuthority,
} from '../../src/pilot-discovery/ca/signing-authority.ts';
import type { caDefaults } from '../../src/pilot-discovery/run/ca-config.ts';
import { ask } from '../support/ask.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';
import { freePorts } from '../support/free-ports.ts';
import { pluggedAuthority, testIssuer } from '../support/plugged-authority.ts';
import { csrPem, goodKeys, testCsr } from '../support/test-csr.ts';

const hour = 3_600_000;
const name = 'spiffe://cluster.local/ns/default/sa/sleep';
let folder: string;
let ends: (() => unknown)[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-ca-'));
  mkdirSync(join(folder, 'config'));
  ends = [];
});
afterEach(async () => {
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true });
});

interface Line extends Readonly<Record<string, unknown>> {
  readonly event: string;
}

/** Starts a control plane with TLS on 127.0.0.1. */
async function startDiscovery(env: Readonly<Record<string, string>>) {
  const [secure = 0, http = 0] = await freePorts(2);
  const child = execa(
    process.execPath,
    [
      ...[resolve('dist/pilot-discovery.cjs'), 'discovery', '--configDir', join(folder, 'config')],
      ...['--grpcAddr', '', '--secureGRPCAddr', `127.0.0.1:${secure}`],
      ...['--httpAddr', `127.0.0.1:${http}`, '--monitoringAddr', ''],
    ],
    { buffer: false, reject: false, cwd: folder, env: { ISTIOD_CUSTOM_HOST: '127.0.0.1', ...env } },
  );
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => (log += piece));
  ends.push(() => (child.kill('SIGTERM'), child));
  const lines = () =>
    log
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line);
  return { secure, text: () => log, lines, ready: () => ask(http, '/ready') };
}

const mount = ({ certificate, key, chain, roots }: AuthorityParts) =>
  writeKubernetesVolume(join(folder, 'cacerts'), {
    'ca-cert.pem': certificate,
    'ca-key.pem': key.toString(),
    'cert-chain.pem': chain,
    'root-cert.pem': roots,
  });

/** Issues a first certificate of a workload, as a machine outside of the cluster has it. */
async function firstPair(parts: AuthorityParts) {
  const signing = signingAuthority(parts, Date.now());
  if (!signing.ok) throw new Error(signing.reason);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const content = { publicKey, names: [['uri', name]], lifetime: hour } as const;
  const { chain } = await certify(signing.authority, content, Date.now());
  return {
    chain: chain.slice(0, -1).join(''),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/**
 * Resolves to the certificate that a server sends to a client with these roots; undefined if the
 * connection fails.
 */
const shownBy = (port: number, ca: string, checks: object = {}) =>
  new Promise<X509Certificate | undefined>((done) => {
    const socket = connect({ port, host: '127.0.0.1', ca, ...checks }, () => {
      done(socket.getPeerX509Certificate());
      socket.destroy();
    });
    socket.on('error', () => done(undefined)).on('close', () => done(undefined));
  });

type Discovery = Awaited<ReturnType<typeof startDiscovery>>;

/** Requests a certificate with the first certificate of a workload, as an agent does. */
async function issue(discovery: Discovery, parts: AuthorityParts, ttl: number) {
  const pair = await firstPair(parts);
  const files = { chain: join(folder, 'chain'), key: join(folder, 'key') };
  writeFileSync(files.chain, pair.chain);
  writeFileSync(files.key, pair.key);
  writeFileSync(join(folder, 'roots'), parts.roots);
  const authority = istioAuthority({
    address: `127.0.0.1:${discovery.secure}`,
    roots: join(folder, 'roots'),
    serverName: undefined,
    client: files,
    clusterId: '',
  });
  const signed = await firstValueFrom(
    authority.sign(csrPem(testCsr(...goodKeys['P-256'])), '', ttl),
    { defaultValue: undefined },
  );
  if (signed === undefined) return 'no answer';
  return signed.ok ? new X509Certificate(signed.chain[0] ?? '') : signed.reason;
}

const lifetimeOf = (certificate: X509Certificate | string | undefined) =>
  typeof certificate === 'object' ? Date.parse(certificate.validTo) - Date.now() : NaN;
const isAbout = (expected: number) => expect.closeTo(expected / hour, 1) as number;

interface Row {
  readonly value: string;
  readonly more?: Readonly<Record<string, string>>;
  /** Fails if the value has no effect. */
  readonly observe: (discovery: Discovery, parts: AuthorityParts) => Promise<unknown>;
}

const file = () => join(folder, 'state', 'root.pem');
const rows: Readonly<Record<keyof typeof caDefaults, () => Row>> = {
  ENABLE_CA_SERVER: () => ({
    value: 'false',
    observe: ({ lines }) =>
      expect.poll(() => lines().map(({ event }) => event)).toContain('discovery.unserved_tls'),
  }),
  ROOT_CA_DIR: () => ({
    value: join(folder, 'cacerts'),
    observe: (discovery, parts) =>
      expect.poll(() => issue(discovery, parts, hour)).toMatchObject({ issuer: 'CN=intermediate' }),
  }),
  SELF_SIGNED_CA_FILE: () => ({
    value: file(),
    more: { ROOT_CA_DIR: '/nowhere' },
    observe: () => expect.poll(() => existsSync(file())).toBe(true),
  }),
  CITADEL_SELF_SIGNED_CA_CERT_TTL: () => ({
    value: '48h',
    more: { ROOT_CA_DIR: '/nowhere', SELF_SIGNED_CA_FILE: file() },
    observe: async () => {
      await expect.poll(() => existsSync(file())).toBe(true);
      expect(lifetimeOf(new X509Certificate(readFileSync(file()))) / hour).toEqual(
        isAbout(48 * hour),
      );
    },
  }),
  DEFAULT_WORKLOAD_CERT_TTL: () => ({
    value: '2h',
    observe: (discovery, parts) =>
      expect
        .poll(async () => lifetimeOf(await issue(discovery, parts, 0)) / hour)
        .toEqual(isAbout(2 * hour)),
  }),
  MAX_WORKLOAD_CERT_TTL: () => ({
    value: '25h',
    observe: (discovery, parts) =>
      expect.poll(() => issue(discovery, parts, 26 * hour)).toContain('the limit is 90000 s'),
  }),
  CERTIFICATES_PER_SECOND: () => ({
    value: '1',
    observe: (discovery, parts) =>
      expect
        .poll(async () => {
          const requests = [1, 2, 3, 4, 5, 6].map(() => issue(discovery, parts, hour));
          return (await Promise.all(requests)).map(String);
        })
        .toContainEqual(expect.stringContaining('it asks more than 1 times a second')),
  }),
  ISTIOD_CUSTOM_HOST: () => ({
    value: 'mesh.example,127.0.0.1',
    observe: (discovery, parts) =>
      expect
        .poll(async () => (await shownBy(discovery.secure, parts.roots))?.subjectAltName)
        .toContain('DNS:mesh.example'),
  }),
};

describe('each variable of the certificate authority', () => {
  it.each(Object.entries(rows))('%s has its effect', async (variable, rowOf) => {
    const parts = await pluggedAuthority();
    mount(parts);
    const { value, more = {}, observe } = rowOf();
    const env = { ROOT_CA_DIR: join(folder, 'cacerts'), ...more, [variable]: value };
    const discovery = await startDiscovery(env);
    await expect.poll(() => discovery.ready()).toMatchObject({ status: 200 });
    await observe(discovery, parts);
  });
});

describe('the certificate authority of pilot-discovery', () => {
  let rig: Rig | undefined;
  afterEach(async () => {
    await rig?.dispose();
    rig = undefined;
  });

  it('gives the agent of this project its certificates, while the root changes', async () => {
    const [root, next] = await Promise.all([testIssuer(), testIssuer({ subject: 'CN=next' })]);
    const [old, later] = await Promise.all([
      pluggedAuthority({}, root),
      pluggedAuthority({ subject: 'CN=later' }, next),
    ]);
    mount(old);
    const discovery = await startDiscovery({ ROOT_CA_DIR: join(folder, 'cacerts') });
    await expect.poll(() => discovery.ready()).toMatchObject({ status: 200 });

    rig = await makeRig({ secret: 'default' });
    const { folder: home, ports } = rig;
    const etc = join(home, 'etc', 'certs');
    mkdirSync(etc, { recursive: true });
    const pair = await firstPair(old);
    writeFileSync(join(etc, 'root-cert.pem'), old.roots);
    writeFileSync(join(etc, 'cert-chain.pem'), pair.chain);
    writeFileSync(join(etc, 'key.pem'), pair.key, { mode: 0o600 });
    const none = Object.fromEntries(
      ['SERVER', 'CLIENT'].flatMap((side) =>
        ['CERT_CHAIN', 'KEY', 'ROOT_CERT'].map((part) => [`ISTIO_META_TLS_${side}_${part}`, '']),
      ),
    );
    const agent = rig.start([], {
      cwd: home,
      env: {
        ...none,
        PROV_CERT: './etc/certs',
        OUTPUT_CERTS: './etc/certs',
        CA_ADDR: `127.0.0.1:${discovery.secure}`,
        SECRET_TTL: '1h',
        SECRET_GRACE_PERIOD_RATIO: '1', // the agent requests certificates again and again
      },
    });
    await agent.said('certificate.issued');
    const written = () => new X509Certificate(readFileSync(join(etc, 'cert-chain.pem')));
    await expect.poll(() => written().issuer).toBe('CN=intermediate');
    expect(written().subjectAltName).toBe(`URI:${name}`);
    // The certificate that Envoy serves names no host.
    const served = (roots: string) =>
      shownBy(ports.listen, roots, { checkServerIdentity: () => undefined });
    await expect.poll(() => served(old.roots)).toBeDefined();
    const serial = (await served(old.roots))?.serialNumber;
    const issued = () =>
      discovery.lines().filter(({ event }) => event === 'discovery.certificate_issued');
    await expect.poll(issued).toContainEqual(expect.objectContaining({ serial, identity: name }));

    mount({ ...old, roots: old.roots + later.roots });
    const roots = () => readFileSync(join(etc, 'root-cert.pem'), 'utf8');
    await expect.poll(roots).toBe(old.roots + later.roots);
    mount({ ...later, roots: old.roots + later.roots });
    await expect.poll(() => written().issuer).toBe('CN=later');
    await expect.poll(() => served(later.roots)).toBeDefined();
    mount(later);
    await expect.poll(roots).toBe(later.roots);
    expect(discovery.lines().map(({ event }) => event)).not.toContain('discovery.root_replaced');
    expect(discovery.text()).not.toMatch(/PRIVATE KEY|BEGIN/);
  });

  it('makes one root if two instances start at once, and both use it', async () => {
    const both = await Promise.all(
      [1, 2].map(() => startDiscovery({ SELF_SIGNED_CA_FILE: file() })),
    );
    for (const { ready } of both) await expect.poll(ready).toMatchObject({ status: 200 });
    const root = readFileSync(file(), 'utf8').replace(/-----BEGIN PRIVATE KEY[^]*/, '');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    for (const { secure } of both)
      await expect
        .poll(async () => (await shownBy(secure, root))?.subjectAltName)
        .toContain('DNS:istiod.istio-system.svc');
  });

  it('is not ready without its key at the start, makes no other one, and heals', async () => {
    const parts = await pluggedAuthority();
    mount(parts);
    unlinkSync(join(folder, 'cacerts', 'ca-key.pem'));
    const discovery = await startDiscovery({
      ROOT_CA_DIR: join(folder, 'cacerts'),
      SELF_SIGNED_CA_FILE: file(),
    });
    await expect
      .poll(() => discovery.ready())
      .toMatchObject({
        status: 503,
        body: expect.stringMatching(/certificate authority has no key: .*ca-key.pem/) as string,
      });
    mount(parts);
    await expect.poll(() => discovery.ready()).toMatchObject({ status: 200, body: '' });
    mount({ ...parts, key: (await testIssuer()).key });
    await expect
      .poll(() => discovery.ready())
      .toMatchObject({
        status: 200,
        body: expect.stringContaining('the key does not match the certificate') as string,
      });
    expect(existsSync(file())).toBe(false);
  });
});
