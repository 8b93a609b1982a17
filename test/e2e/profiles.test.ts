import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeCertificates } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { ask } from '../support/ask.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';
import { makeSignedRig } from '../support/e2e/signed-rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await makeRig({ secret: 'default' });
});
afterEach(() => rig.dispose());

const tokenFile = ({ folder }: Rig) => join(folder, 'run', 'profile-token');
const look = (agentRig: Rig, kind: string) =>
  ask(agentRig.ports.status, `/debug/pprof/${kind}`, {
    headers: { authorization: `Bearer ${readFileSync(tokenFile(agentRig), 'utf8').trim()}` },
    timeout: 60_000,
  });
const isServed = ({ ports, ca }: Rig) =>
  expect.poll(() => servedSerial(ports.listen, ca.rootCert)).toBeDefined();
/** Returns the lines of a key that contain its secret. */
const linesOf = (pem: string) =>
  pem.split('\n').filter((line) => /^[A-Za-z\d+/=]{40,}$/.test(line));

async function expectKeyless(agentRig: Rig, ...keys: readonly string[]): Promise<void> {
  const { status, body } = await look(agentRig, 'heap');
  expect(status).toBe(200);
  expect(body).toContain('"snapshot"');
  // A snapshot contains texts of the process; otherwise a missing text would prove nothing.
  expect(body).toContain(agentRig.folder);
  const lines = keys.flatMap(linesOf);
  expect(lines.length).toBeGreaterThan(keys.length);
  expect(lines.filter((line) => body.includes(line))).toEqual([]);
}

it('has the token for its owner alone, as long as the agent runs', async () => {
  const agent = rig.start(['--profiling=true']);
  await agent.said('epoch.live');
  expect(statSync(tokenFile(rig)).mode & 0o777).toBe(0o600);
  expect(JSON.parse((await look(rig, 'profile?seconds=0.2')).body)).toHaveProperty('samples');
  expect((await look(rig, 'profile?seconds=1000')).status).toBe(400);
  expect((await ask(rig.ports.status, '/debug/pprof/heap')).status).toBe(401);
  agent.kill('SIGTERM');
  await agent.exit;
  expect(statSync(tokenFile(rig), { throwIfNoEntry: false })).toBeUndefined();
});

it('a snapshot of the heap has no key that came from a file', async () => {
  rig.start(['--profiling=true']);
  await isServed(rig);
  const next = await rig.ca.issue();
  writeCertificates(rig.certDir, next);
  await expect.poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert)).toBe(next.serial);
  await expectKeyless(rig, rig.issued.key, next.key);
});

it('a snapshot of the heap has no key that an authority has signed', async () => {
  const signed = await makeSignedRig();
  try {
    const output = join(signed.rig.folder, 'output');
    signed.start({ OUTPUT_CERTS: output }, ['--profiling=true']);
    await isServed(signed.rig);
    await expectKeyless(signed.rig, readFileSync(join(output, 'key.pem'), 'utf8'));
  } finally {
    await signed.dispose();
  }
});
