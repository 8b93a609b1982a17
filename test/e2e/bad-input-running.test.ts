import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { certificateFiles, type Issued, writeCertificates } from '../../demo/certificates.ts';
import {
  expectNothingLeft,
  servedSerial,
  starts,
  withoutDrain,
} from '../support/e2e/bad-input-program.ts';
import { makeRig, type Rig, type RunningAgent } from '../support/e2e/rig.ts';

const refusal = 'config.refused';

let rig: Rig;
let agent: RunningAgent;
beforeEach(async () => {
  rig = await makeRig();
  agent = rig.start([], { env: withoutDrain });
  await agent.said('epoch.live', 0);
});
afterEach(() => rig.dispose());

it('certificates that vanish are refused, and new ones are taken when the folder is back', async () => {
  rmSync(rig.certDir, { recursive: true });
  expect((await agent.said(refusal))['reason']).toContain(rig.certDir);
  await expectOldEpoch();

  const next = await rig.ca.issue();
  writeCertificates(rig.certDir, next);
  await expectNextEpoch(next.serial);
});

it.each<[what: string, make: () => Promise<Issued>, reason: string]>([
  [
    'a key that does not match',
    async () => ({ ...(await rig.ca.issue()), key: rig.issued.key }),
    'the key does not match the certificate',
  ],
  [
    'a key that is garbage',
    async () => ({ ...(await rig.ca.issue()), key: 'garbage' }),
    'the key does not parse',
  ],
  [
    'a certificate that is garbage',
    async () => ({ ...(await rig.ca.issue()), certChain: 'garbage' }),
    'the certificate does not parse',
  ],
  [
    'a certificate that is empty',
    async () => ({ ...(await rig.ca.issue()), certChain: '' }),
    'the certificate does not parse',
  ],
  [
    'a certificate that has expired',
    () => rig.ca.issue({ notAfter: new Date(Date.now() - 1_000) }),
    'the certificate has expired at ',
  ],
  [
    'a certificate of tomorrow',
    () => rig.ca.issue({ notBefore: new Date(Date.now() + 60_000) }),
    'the certificate is not valid before ',
  ],
])(
  '%s never reaches a running Envoy, and the next good pair works',
  async (_what, make, reason) => {
    writeCertificates(rig.certDir, await make());
    expect((await agent.said(refusal))['reason']).toContain(
      `${rig.certDir}/cert-chain.pem, ${rig.certDir}/key.pem: ${reason}`,
    );
    await expectOldEpoch();

    const next = await rig.ca.issue();
    writeCertificates(rig.certDir, next);
    await expectNextEpoch(next.serial);
  },
);

it.each([
  ['cert-chain.pem', 'key.pem'],
  ['key.pem', 'cert-chain.pem'],
] as const)(
  'a pair whose halves arrive in two windows, %s first, is one restart',
  async (first, second) => {
    const next = await rig.ca.issue();
    const files = certificateFiles(next);
    put(join(rig.certDir, first), files[first]);
    expect((await agent.said(refusal))['reason']).toContain(
      'the key does not match the certificate',
    );
    await expectOldEpoch();

    put(join(rig.certDir, second), files[second]);
    await expectNextEpoch(next.serial);
    expect(agent.log().filter(({ event }) => event === refusal)).toHaveLength(1);
  },
);

it('a custom configuration that Envoy refuses leaves the old epoch as it is', async () => {
  put(rig.config, '{ "nonsense": 1 }');
  expect((await agent.said(refusal))['reason']).toContain(`${rig.config}:1:`);
  await expectOldEpoch();
});

it('a custom configuration that vanishes leaves the old epoch as it is', async () => {
  rmSync(rig.config);
  expect((await agent.said(refusal))['reason']).toContain(rig.config);
  await expectOldEpoch();
});

it('SIGHUP starts a new epoch of unchanged files', async () => {
  agent.kill('SIGHUP');
  await agent.said('restart.requested');
  await expectNextEpoch(rig.issued.serial);
});

it('SIGHUP does not bring in what is refused', async () => {
  put(join(rig.certDir, 'key.pem'), 'garbage');
  agent.kill('SIGHUP');
  expect((await agent.said(refusal))['reason']).toContain('the key does not parse');
  await expectOldEpoch();
});

/** Checks that the first Envoy was the only one, and that it serves what it was started with. */
async function expectOldEpoch(): Promise<void> {
  expect(starts(agent)).toBe(1);
  expect(rig.envoys()).toHaveLength(1);
  expect(await rig.ready()).toEqual({ status: 200, body: '' });
  expect(await servedSerial(rig)).toBe(rig.issued.serial);
  expect(agent.errors()).toBe('');
}

/**
 * Checks that the second Envoy is LIVE and no third was started. Ends the agent, and checks that it
 * leaves nothing.
 */
async function expectNextEpoch(serial: string): Promise<void> {
  await agent.said('epoch.live', 1);
  await expect.poll(() => servedSerial(rig)).toBe(serial);
  expect(await rig.ready()).toEqual({ status: 200, body: '' });
  expect(starts(agent)).toBe(2);

  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(agent.errors()).toBe('');
  expectNothingLeft(rig);
}

function put(path: string, content = ''): void {
  const newPath = join(rig.folder, 'fresh');
  writeFileSync(newPath, content);
  renameSync(newPath, path);
}
