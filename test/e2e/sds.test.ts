import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import {
  certificateAuthority,
  certificateFiles,
  type Issued,
  writeCertificates,
  writeKubernetesVolume,
} from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { madeCertificate, pem } from '../certificates/made-certificate.ts';
import { startLoad } from '../support/load.ts';
import { program } from '../support/e2e/program.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';
import { sdsClient } from '../support/e2e/sds-client.ts';

const rigs: Rig[] = [];
const rigFor = async (options: Parameters<typeof makeRig>[0] = { secret: 'default' }) => {
  const rig = await makeRig(options);
  rigs.push(rig);
  return rig;
};
afterEach(() => Promise.all(rigs.splice(0).map((rig) => rig.dispose())));

const rotations = 40;
const serves = (rig: Rig, { serial }: Issued) =>
  expect.poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert), { interval: 5 }).toBe(serial);

/**
 * Rotates under load, each time after the previous certificate is served. Resolves to the duration
 * of each rotation, in ms.
 */
async function rotate(rig: Rig, put: (issued: Issued) => void): Promise<readonly number[]> {
  const tls = { ca: rig.ca.rootCert };
  const loads = (['keep-alive', 'new-connection'] as const).map((mode) =>
    startLoad({ port: rig.ports.listen, tls, mode, clients: 2, pause: 10, maxDuration: 120_000 }),
  );
  const took: number[] = [];
  for (let n = 0; n < rotations; n++) {
    const issued = await rig.ca.issue();
    const begun = performance.now();
    put(issued);
    await serves(rig, issued);
    took.push(performance.now() - begun);
  }
  for (const load of loads) {
    const { failed, errors, ok } = await load.stop();
    expect([failed, [...errors]]).toEqual([0, []]);
    expect(ok).toBeGreaterThan(rotations);
  }
  return took.sort((a, b) => a - b);
}

it('forty rotations of files under load: one Envoy, each new certificate served, nine of ten within a second, nothing fails', async () => {
  const rig = await rigFor();
  rmSync(rig.certDir, { recursive: true });
  writeKubernetesVolume(rig.certDir, certificateFiles(rig.issued));
  const agent = rig.start();
  await serves(rig, rig.issued);
  const took = await rotate(rig, (issued) =>
    writeKubernetesVolume(rig.certDir, certificateFiles(issued)),
  );
  expect(took[Math.floor(rotations * 0.9)]).toBeLessThan(1_000);
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);
  expect(agent.log().filter(({ event }) => event === 'secret.rejected')).toEqual([]);
  expect(agent.log().find(({ event }) => event === 'rotation.by_push')).toMatchObject({
    because: "Envoy's configuration names the socket",
  });
});

it('forty rotations of a gateway’s secret under load: the same, after the fallback until it is there', async () => {
  const rig = await rigFor({ secret: 'shop' });
  const gateway = join(rig.folder, 'gateway');
  const put = (name: string, { certChain, key }: Issued) =>
    writeKubernetesVolume(join(gateway, name), { 'tls.crt': certChain, 'tls.key': key });
  mkdirSync(gateway);
  const fallback = await rig.ca.issue();
  put('gateway-fallback', fallback);
  const agent = rig.start([], { env: { GATEWAY_SECRETS: gateway } });
  await serves(rig, fallback);
  const took = await rotate(rig, (issued) => put('shop', issued));
  expect(took[Math.floor(rotations * 0.9)]).toBeLessThan(1_000);
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(1);
});

it('what can not be served is refused with its reason, and the old certificate is served on', async () => {
  const rig = await rigFor();
  const agent = rig.start();
  await serves(rig, rig.issued);
  const other = await rig.ca.issue();
  const expired = await rig.ca.issue({
    notBefore: new Date(Date.now() - 7_200_000),
    notAfter: new Date(Date.now() - 3_600_000),
  });
  const bad: readonly (readonly [
    files: Record<string, string>,
    reason: string,
    serial?: string,
  ])[] = [
    [{ ...certificateFiles(rig.issued), 'key.pem': 'garbage' }, 'the key does not parse'],
    [
      { ...certificateFiles(rig.issued), 'key.pem': other.key },
      'the key does not match the certificate',
    ],
    [certificateFiles(expired), 'the certificate has expired'],
    [{ ...certificateFiles(rig.issued), 'cert-chain.pem': '' }, 'the certificate is empty'],
    [
      {
        ...certificateFiles(rig.issued),
        'cert-chain.pem': randomBytes(10_000_000).toString('latin1'),
      },
      'and 1048576 are read at most',
    ],
    // The pair beside these roots is good, and is served.
    [
      { ...certificateFiles(other), 'root-cert.pem': 'garbage' },
      'no root certificate is in it',
      other.serial,
    ],
  ];
  for (const [files, reason, serial = rig.issued.serial] of bad) {
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(rig.certDir, name), content);
    const refused = {
      event: 'secret.refused',
      reason: expect.stringContaining(reason) as string,
    };
    await expect.poll(() => agent.log()).toContainEqual(expect.objectContaining(refused));
    await expect.poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert)).toBe(serial);
    // Readiness has a note about the secret that is wrong, and no other note.
    const ready = () =>
      fetch(`http://127.0.0.1:${rig.ports.status}/healthz/ready`, {
        headers: { accept: 'application/json' },
      });
    const note = expect.stringMatching(
      `^secret ${serial === rig.issued.serial ? 'default' : 'ROOTCA'} refused: .*${reason}`,
    ) as string;
    await expect
      .poll(async () => (await ready()).json())
      .toEqual({ ok: true, pending: [], notes: [note] });
  }
  const good = await rig.ca.issue();
  const more = await Promise.all(
    Array.from({ length: 199 }, (_, n) => certificateAuthority(`CA ${n}`)),
  );
  writeCertificates(rig.certDir, {
    ...good,
    rootCert: [rig.ca, ...more].map(({ rootCert }) => rootCert).join(''),
  });
  await serves(rig, good);
  await expect
    .poll(() =>
      agent
        .log()
        .filter(({ event, ...line }) => event === 'secret.read' && line['secret'] === 'ROOTCA'),
    )
    .toHaveLength(2);
  agent.kill('SIGTERM');
  expect(await agent.exit).toEqual({ code: 0, signal: null });
  expect(existsSync(join(rig.folder, 'run', 'SDS'))).toBe(false);
});

it('what Envoy alone finds wrong does not count as served, and a new Envoy is given the pair before it', async () => {
  const rig = await rigFor();
  const rejected = 'Envoy rejects it: Failed to load certificate chain from <inline>';
  const put = (files: Record<string, string>) =>
    Object.entries(files).forEach(([name, content]) =>
      writeFileSync(join(rig.certDir, name), content),
    );
  const ask = async (path: string) =>
    (
      await fetch(`http://127.0.0.1:${rig.ports.status}${path}`, {
        headers: { accept: 'application/json' },
      })
    ).text();
  const ready = async () =>
    JSON.parse(await ask('/healthz/ready')) as {
      ok: boolean;
      pending: { reason: string }[];
      notes: string[];
    };
  const gauges = async () =>
    (await ask('/stats/prometheus'))
      .split('\n')
      .filter((row) =>
        /^istio_agent_(secret_refused|cert_expiry_seconds)\{resource_name="default"/.test(row),
      )
      .map((row) => row.replace(/.*agent_(\w+).* (\S+)$/, '$1 $2'));
  const shown = async () =>
    (
      JSON.parse(await ask('/debug/status')) as {
        certificates: { name: string; serialNumber: string; refused?: string }[];
      }
    ).certificates.flatMap(({ name, serialNumber, refused }) =>
      name === 'default' ? [[serialNumber, refused]] : [],
    );

  put(ofVersion1());
  const agent = rig.start();
  await expect
    .poll(ready)
    .toMatchObject({ ok: false, pending: [{ reason: `secret default: ${rejected}` }] });
  expect([await shown(), await gauges()]).toEqual([[], ['secret_refused 1']]);

  put(certificateFiles(rig.issued));
  await serves(rig, rig.issued);
  await expect.poll(ready).toEqual({ ok: true, pending: [], notes: [] });

  put(ofVersion1());
  await expect
    .poll(ready)
    .toEqual({ ok: true, pending: [], notes: [`secret default refused: ${rejected}`] });
  expect(await shown()).toEqual([[rig.issued.serial, rejected]]);
  expect(await gauges()).toEqual([
    expect.stringMatching(/^cert_expiry_seconds 3[45]\d\d(?:\.\d+)?$/),
    'secret_refused 1',
  ]);

  await agent.said('epoch.live', 0);
  writeFileSync(rig.config, readFileSync(rig.config, 'utf8').replace('"ok"', '"new"'));
  await agent.said('epoch.live', 1);
  await agent.said('epoch.ended', 0);
  await serves(rig, rig.issued);
  expect(await ready()).toMatchObject({
    ok: true,
    notes: [`secret default refused: ${rejected}`],
  });
});

/**
 * Returns files with a certificate of version 1 that has extensions. OpenSSL accepts it, and
 * BoringSSL does not.
 */
function ofVersion1(): Record<string, string> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const [subject, hour] = ['localhost', 3_600_000];
  const terms = {
    subject,
    issuer: subject,
    publicKey,
    signer: privateKey,
    serial: 1,
    version: 1,
    isAuthority: false,
  } as const;
  const certificate = madeCertificate({
    ...terms,
    notBefore: Date.now() - hour,
    notAfter: Date.now() + hour,
  });
  return {
    'cert-chain.pem': pem('CERTIFICATE', certificate),
    'key.pem': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

it('a changed configuration is a new epoch beside it, which takes the same secret', async () => {
  const rig = await rigFor();
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  await serves(rig, rig.issued);
  writeFileSync(rig.config, readFileSync(rig.config, 'utf8').replace('"ok"', '"new"'));
  await agent.said('epoch.live', 1);
  const issued = await rig.ca.issue();
  writeCertificates(rig.certDir, issued);
  await serves(rig, issued);
  await agent.said('epoch.ended', 0);
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(2);
});

it('--rotation hot-restart restarts Envoy for a changed file, though the socket is served too', async () => {
  const rig = await rigFor();
  const agent = rig.start(['--rotation', 'hot-restart']);
  await agent.said('epoch.live', 0);
  const issued = await rig.ca.issue();
  writeCertificates(rig.certDir, issued);
  await agent.said('epoch.live', 1);
  await serves(rig, issued);
  expect(agent.log().find(({ event }) => event === 'rotation.by_restart')).toMatchObject({
    because: '--rotation',
  });
});

it('an Envoy that reads files is restarted by default, and no socket is served', async () => {
  const rig = await rigFor({});
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  expect(agent.log().find(({ event }) => event === 'rotation.by_restart')).toMatchObject({
    because: 'Envoy reads files',
  });
  expect(existsSync(join(rig.folder, 'run', 'SDS'))).toBe(false);
});

it('PROV_CERT is where default comes from, before the paths of the variables', async () => {
  const rig = await rigFor();
  const provisioned = join(rig.folder, 'provisioned');
  const issued = await rig.ca.issue();
  mkdirSync(provisioned);
  writeCertificates(provisioned, issued);
  rig.start([], { env: { PROV_CERT: provisioned, SDS_ENABLED: 'true' } });
  await serves(rig, issued);
  const next = await rig.ca.issue();
  writeCertificates(provisioned, next);
  await serves(rig, next);
});

it('without a token and with FILE_MOUNTED_CERTS secrets are served from files', async () => {
  const rig = await rigFor();
  const agent = rig.start([], {
    env: { FILE_MOUNTED_CERTS: 'true', JWT_POLICY: 'third-party-jwt' },
  });
  await serves(rig, rig.issued);
  expect(agent.errors()).toBe('');
});

it('pilot-agent secrets prints names, subjects, serials and validity, and no key', async () => {
  const rig = await rigFor();
  const agent = rig.start();
  await serves(rig, rig.issued);
  const run = (...args: readonly string[]) =>
    promisify(execFile)(program[0], [
      ...program.slice(1),
      'secrets',
      '--configPath',
      join(rig.folder, 'run'),
      ...args,
    ]);
  const { stdout } = await run();
  expect(stdout).toContain(`serial  ${rig.issued.serial}`);
  expect(stdout).toContain('CN=localhost');
  expect(stdout).toContain('DNS:localhost');
  expect(stdout).not.toContain('KEY');
  const [root, pair] = JSON.parse((await run('-o', 'json')).stdout) as {
    name: string;
    certificates: { serialNumber: string }[];
  }[];
  expect([root?.name, pair?.name, pair?.certificates[0]?.serialNumber]).toEqual([
    'ROOTCA',
    'default',
    rig.issued.serial,
  ]);
  agent.kill('SIGTERM');
  await agent.exit;
  await expect(run()).rejects.toMatchObject({ code: 69 });
});

it('the metrics of the agent say how long each secret is valid, and what became of the pushes', async () => {
  const rig = await rigFor();
  const agent = rig.start();
  await serves(rig, rig.issued);
  await agent.said('secret.accepted');
  const text = await (await fetch(`http://127.0.0.1:${rig.ports.status}/stats/prometheus`)).text();
  const valueOf = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    );
  for (const name of ['default', 'ROOTCA'])
    expect(valueOf(`istio_agent_cert_expiry_seconds{resource_name="${name}"}`)).toBeGreaterThan(
      3_000,
    );
  expect(valueOf('istio_agent_pilot_xds_pushes{type="sds"}')).toBe(1);
  expect(valueOf('istio_agent_pushes_accepted_total')).toBe(1);
  expect(valueOf('istio_agent_pilot_total_xds_rejects{type="sds"}')).toBe(0);
  expect(valueOf('istio_agent_num_outgoing_requests{request_type="csr"}')).toBe(0);
});

it('an agent that is killed with streams open leaves nothing that hinders the next one', async () => {
  const rig = await rigFor();
  const socket = join(rig.folder, 'run', 'SDS');
  const first = rig.start();
  await serves(rig, rig.issued);
  const client = sdsClient(socket);
  const streams = Array.from({ length: 100 }, () => client.stream());
  for (const stream of streams) stream.send({ resourceNames: ['default'] });
  await Promise.all(streams.map((stream) => stream.answer(1)));
  first.kill('SIGKILL');
  await first.exit;
  await expect.poll(() => streams.every((stream) => stream.ended() !== undefined)).toBe(true);
  client.close();
  await expect.poll(() => rig.envoys()).toHaveLength(0);
  expect(statSync(socket).isSocket()).toBe(true);
  const second = rig.start();
  await second.said('sds.listening');
  await serves(rig, rig.issued);
  expect(statSync(socket).mode & 0o777).toBe(0o600);
});

it('two agents serve side by side, but not in one folder', async () => {
  const [first, second] = [await rigFor(), await rigFor()];
  first.start();
  second.start();
  await serves(first, first.issued);
  await serves(second, second.issued);
  const intruder = first.start(['--statusPort', '0']);
  expect(await intruder.exit).toEqual({ code: 69, signal: null });
  expect(intruder.errors()).toContain('belongs to another agent');
  await serves(first, first.issued);
});

it('secrets are not world-readable on their way: the folder is 0700 if the agent makes it', async () => {
  const rig = await rigFor();
  rig.start();
  await serves(rig, rig.issued);
  expect(statSync(join(rig.folder, 'run')).mode & 0o777).toBe(0o700);
});
