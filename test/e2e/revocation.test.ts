import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  certificateAuthority,
  type Issued,
  writeKubernetesVolume,
} from '../../demo/certificates.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';
import { type Load, startLoad } from '../support/load.ts';
import { testCrl } from '../support/test-crl.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await makeRig({ secret: 'default', clientRoots: 'ROOTCA' });
});
afterEach(() => rig.dispose());

const asks = ({ certChain: cert, key, rootCert: ca }: Issued, clients: number): Load =>
  startLoad({
    port: rig.ports.listen,
    tls: { ca, cert, key },
    mode: 'new-connection',
    clients,
    pause: 20,
  });

/** Puts CRLs where Kubernetes mounts the ConfigMap `istio-ca-crl`. */
const put = (text: string) =>
  writeKubernetesVolume(join(rig.folder, 'var/run/secrets/istio/crl'), { 'ca-crl.pem': text });

/** Returns the reason of the newest refusal of the roots, or of their CRLs. */
const refusal = (agent: RunningAgent) =>
  agent
    .log()
    .filter(({ event, ...line }) => event === 'secret.refused' && line['secret'] === 'ROOTCA')
    .at(-1)?.['reason'];

it('a revoked certificate is refused while others go on, and counts again when the revocation is taken back', async () => {
  const [good, bad] = [await rig.ca.issue(), await rig.ca.issue()];
  const agent = rig.start([], { cwd: rig.folder });
  await agent.said('epoch.live', 0);
  const others = asks(good, 2);
  /** Whether the client `bad` is admitted now. */
  const admitted = async (): Promise<boolean> => {
    const load = asks(bad, 1);
    await expect.poll(() => load.counts.ok + load.counts.failed).toBeGreaterThan(0);
    const { ok } = await load.stop();
    return ok > 0;
  };
  expect(await admitted()).toBe(true);

  const crlOf = (revoked: readonly string[], to?: number) =>
    testCrl(rig.ca.issuer, { revoked, ...(to !== undefined && { to }) });
  put(await crlOf([]));
  await expect.poll(() => agent.log().filter(isRead)).toHaveLength(2);
  expect(await admitted()).toBe(true);

  const begun = performance.now();
  put(await crlOf([bad.certChain]));
  await expect.poll(admitted).toBe(false);
  expect(performance.now() - begun).toBeLessThan(2_000);

  put('-----BEGIN X509 CRL-----\n');
  await expect
    .poll(() => refusal(agent))
    .toMatch(/ca-crl\.pem: an X509 CRL does not parse; the previous CRLs stay in use$/);
  const foreign = await certificateAuthority('foreign');
  put(await testCrl(foreign.issuer));
  await expect
    .poll(() => refusal(agent))
    .toMatch(
      /the CRL of the authority CN=pilot-agent demo CA is missing; the previous CRLs stay in use$/,
    );
  expect(await admitted()).toBe(false);

  // The agent serves a CRL until 10 s before it expires, because Envoy would then refuse all
  // clients.
  put(await crlOf([bad.certChain], Date.now() + 13_000));
  await expect.poll(() => agent.log().filter(isRead).length).toBeGreaterThan(3);
  expect(await admitted()).toBe(false);
  await expect
    .poll(() => refusal(agent))
    .toMatch(/expires at .*: put a new one in its place; no certificate counts as revoked$/);
  await expect.poll(admitted).toBe(true);
  const ready = await fetch(`http://127.0.0.1:${rig.ports.status}/healthz/ready`, {
    headers: { accept: 'application/json' },
  });
  expect(await ready.json()).toMatchObject({
    ok: true,
    notes: [expect.stringMatching(/^secret ROOTCA refused: .*put a new one in its place/)],
  });

  put(await crlOf([bad.certChain]));
  await expect.poll(admitted).toBe(false);
  put('');
  await expect.poll(admitted).toBe(true);

  const { ok, failed, errors } = await others.stop();
  expect([failed, [...errors]]).toEqual([0, []]);
  expect(ok).toBeGreaterThan(100);
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);
  expect(agent.log().filter(({ event }) => event === 'secret.rejected')).toEqual([]);
});

const isRead = ({ event, ...line }: { readonly event: string } & Record<string, unknown>) =>
  event === 'secret.read' && line['secret'] === 'ROOTCA';
