import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leftOut } from '../support/left-out.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { kubeProgram, sharedKube } from '../support/e2e/kube.ts';
import { makePod, type MeshPod } from '../support/e2e/mesh-pod.ts';

if (kubeProgram === undefined) leftOut('a machine in a real mesh', 'a program');

describe.skipIf(kubeProgram === undefined)('a machine of a real mesh', () => {
  let upstream: Upstream;
  let machine: MeshPod;
  beforeAll(async () => {
    upstream = await startUpstream();
    // Istio's package for machines sets these variables.
    const env = { PROV_CERT: './etc/certs', OUTPUT_CERTS: './etc/certs' };
    machine = await makePod(await sharedKube(), upstream.port, { name: 'machine', env });
  });
  afterAll(async () => {
    await machine.dispose();
    await upstream.close();
  });

  it('starts with a root and a token, and again with the certificate that it was given and no token', async () => {
    const certificates = join(machine.folder, 'etc/certs');
    const secrets = join(machine.folder, 'var/run/secrets');
    mkdirSync(certificates, { recursive: true });
    copyFileSync(join(secrets, 'istio/root-cert.pem'), join(certificates, 'root-cert.pem'));
    const first = machine.start();
    await expect.poll(() => machine.ready()).toMatchObject({ status: 200 });
    expect((await machine.request('outbound')).body).toBe('upstream');
    const shown = await machine.shownSerial();
    expect(shown).toMatch(/^[0-9A-F]+$/);
    expect(
      readdirSync(certificates)
        .filter((name) => !name.startsWith('..'))
        .sort(),
    ).toEqual(['cert-chain.pem', 'key.pem', 'root-cert.pem']);
    expect(first.log().filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
    first.kill('SIGTERM');
    expect(await first.exit).toEqual({ code: 0, signal: null });

    rmSync(join(secrets, 'tokens'), { recursive: true });
    const second = machine.start();
    await expect.poll(() => machine.ready()).toMatchObject({ status: 200 });
    expect((await machine.request('outbound')).body).toBe('upstream');
    expect(await machine.shownSerial()).toMatch(/^[0-9A-F]+$/);
    second.kill('SIGTERM');
    expect(await second.exit).toEqual({ code: 0, signal: null });
  });
});
