import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnsecuredJWT } from 'jose';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { certificateAuthority, writeCertificates } from '../../demo/certificates.ts';
import { certificateRequest } from '../../src/pilot-agent/secrets/ca/certificate-request.ts';
import { type CaServer, startCaServer } from '../support/ca-server.ts';
import {
  type MutualControlPlane,
  startMutualControlPlane,
} from '../support/mutual-control-plane.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';

/**
 * The SPIFFE id of the pilot of Istio. Agents expect it of istiod too if they connect to an IP
 * address.
 */
const pilot = 'spiffe://cluster.local/ns/istio-system/sa/istio-pilot-service-account';
let rig: Rig;
let controlPlane: MutualControlPlane;
let authority: CaServer | undefined;

async function startOf(
  ca: Rig['ca'],
  port?: number,
  asksClient = true,
): Promise<MutualControlPlane> {
  const { csr, key } = await certificateRequest(pilot, { algorithm: 'ECDSA', pkcs8: true });
  const { certificate: chain } = await ca.sign(csr);
  return startMutualControlPlane({
    chain,
    key: key.toString(),
    roots: rig.ca.rootCert,
    asksClient,
    ...(port !== undefined && { port }),
  });
}

beforeEach(async () => {
  rig = await makeRig();
  controlPlane = await startOf(rig.ca);
});
afterEach(async () => {
  controlPlane.close();
  authority?.close();
  await rig.dispose();
});

const start = (flags: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  rig.start(
    [
      '--discoveryAddress',
      `127.0.0.1:${controlPlane.port}`,
      '--controlPlaneAuthPolicy',
      'MUTUAL_TLS',
      ...flags,
    ],
    {
      generated: true,
      cwd: rig.folder,
      env,
    },
  );
/**
 * Resolves when the control plane has received this certificate. The control plane drops
 * connections until then.
 */
const shows = (serial: string) =>
  expect
    .poll(
      () => {
        const shown = controlPlane.shown.at(-1);
        if (shown !== serial) controlPlane.drop();
        return shown;
      },
      { interval: 200 },
    )
    .toBe(serial);

it('a control plane is shown the certificate in the files, and the next one, without a restart', async () => {
  const agent = start(['--rotation', 'sds']);
  await agent.said('epoch.live', 0);
  expect(controlPlane.shown).toEqual([rig.issued.serial]);
  const next = await rig.ca.issue();
  writeCertificates(rig.certDir, next);
  await shows(next.serial);
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);
});

it('a control plane with a new root is trusted when the root is there, without a restart', async () => {
  const agent = start(['--rotation', 'sds']);
  await agent.said('epoch.live', 0);
  const other = await certificateAuthority('another CA');
  const { port } = controlPlane;
  controlPlane.close();
  controlPlane = await startOf(other, port);
  writeFileSync(join(rig.certDir, 'root-cert.pem'), rig.ca.rootCert + other.rootCert);
  await shows(rig.issued.serial);
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);
});

it('a certificate of an authority is shown to the control plane, which nobody has in a file', async () => {
  const { rootCert: roots, certChain: chain, key } = await rig.ca.issue();
  authority = await startCaServer(rig.ca, { tls: { roots, chain, key, asksClient: false } });
  const token = join(rig.folder, 'var', 'run', 'secrets', 'tokens');
  mkdirSync(token, { recursive: true });
  const inAnHour = Math.floor(Date.now() / 1000) + 3600;
  const jwt = new UnsecuredJWT({})
    .setSubject('system:serviceaccount:default:sleep')
    .setExpirationTime(inAnHour)
    .encode();
  writeFileSync(join(token, 'istio-token'), jwt);
  mkdirSync(join(rig.folder, 'var', 'run', 'secrets', 'istio'), { recursive: true });
  writeFileSync(join(rig.folder, 'var', 'run', 'secrets', 'istio', 'root-cert.pem'), roots);
  const none = Object.fromEntries(
    ['SERVER', 'CLIENT'].flatMap((side) =>
      ['CERT_CHAIN', 'KEY', 'ROOT_CERT'].map((part) => [`ISTIO_META_TLS_${side}_${part}`, '']),
    ),
  );
  const agent = start([], { ...none, CA_ADDR: `127.0.0.1:${authority.port}` });
  await agent.said('epoch.live', 0);
  expect(controlPlane.shown).toHaveLength(1);
  const read = agent.log().filter(({ event }) => event === 'secret.read');
  expect(read.find((line) => line['secret'] === 'default')?.['source']).toBe(
    `certificate authority 127.0.0.1:${authority.port}`,
  );
});

it('a machine without a certificate begins with its token, and goes on with what it has written', async () => {
  const [etc, tokens] = [
    join(rig.folder, 'etc', 'certs'),
    join(rig.folder, 'var', 'run', 'secrets', 'tokens'),
  ];
  for (const folder of [etc, tokens]) mkdirSync(folder, { recursive: true });
  const { rootCert: roots, certChain: chain, key } = await rig.ca.issue();
  const token = new UnsecuredJWT({})
    .setSubject('system:serviceaccount:default:vm')
    .setExpirationTime('1h')
    .encode();
  writeFileSync(join(etc, 'root-cert.pem'), roots);
  writeFileSync(join(tokens, 'istio-token'), token);
  authority = await startCaServer(rig.ca, { tls: { roots, chain, key, asksClient: false } });
  const { port } = controlPlane;
  controlPlane.close();
  controlPlane = await startOf(rig.ca, port, false);
  const none = Object.fromEntries(
    ['SERVER', 'CLIENT'].flatMap((side) =>
      ['CERT_CHAIN', 'KEY', 'ROOT_CERT'].map((part) => [`ISTIO_META_TLS_${side}_${part}`, '']),
    ),
  );
  const env = {
    ...none,
    PROV_CERT: './etc/certs',
    OUTPUT_CERTS: './etc/certs',
    CA_ADDR: `127.0.0.1:${authority.port}`,
  };

  const first = start([], env);
  await first.said('epoch.live', 0);
  await expect.poll(() => rig.ready()).toMatchObject({ status: 200 });
  const firstRequests = () => authority?.requests.slice(0, 1);
  await expect
    .poll(firstRequests)
    .toMatchObject([{ client: '', authorization: `Bearer ${token}` }]);
  await expect.poll(() => existsSync(join(etc, 'key.pem'))).toBe(true);
  first.kill('SIGTERM');
  await first.exit;

  rmSync(join(tokens, 'istio-token'));
  authority.close();
  authority = await startCaServer(rig.ca, {
    port: authority.port,
    tls: { roots, chain, key, asksClient: true },
  });
  controlPlane.close();
  controlPlane = await startOf(rig.ca, port);
  const second = start([], env);
  await second.said('epoch.live', 0);
  await expect.poll(firstRequests).toMatchObject([{ client: 'localhost', authorization: '' }]);
});
