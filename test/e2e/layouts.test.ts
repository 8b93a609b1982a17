import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  certificateFiles,
  type Issued,
  writeCertificates,
  writeKubernetesVolume,
} from '../../demo/certificates.ts';
import { makeRig, type Rig } from '../support/e2e/rig.ts';
import { servedSerial } from '../../demo/served-serial.ts';

let rig: Rig;
beforeEach(async () => {
  rig = await makeRig();
});
afterEach(() => rig.dispose());

interface Layout {
  readonly name: string;
  /** Creates the layout with the first certificates, before the agent starts. */
  readonly prepare?: () => void;
  readonly rotate: (issued: Issued) => void;
}

const overwrite = (issued: Issued) =>
  Object.entries(certificateFiles(issued)).forEach(([name, content]) =>
    writeFileSync(join(rig.certDir, name), content),
  );
const afresh = (fill: (files: Record<string, string>) => void) => () => {
  rmSync(rig.certDir, { recursive: true });
  fill(certificateFiles(rig.issued));
};
/**
 * Creates `cert` → a link in a second folder → `..data` of a third, as CSI drivers and subPath
 * mounts do.
 */
const chained = (files: Record<string, string>) => {
  const [links, volume] = [join(rig.folder, 'links'), join(rig.folder, 'volume')];
  writeKubernetesVolume(volume, files);
  mkdirSync(links);
  mkdirSync(rig.certDir);
  for (const name of Object.keys(files)) {
    symlinkSync(join(volume, name), join(links, name));
    symlinkSync(join('..', 'links', name), join(rig.certDir, name));
  }
};

const layouts: readonly Layout[] = [
  { name: 'a rename over each file', rotate: (issued) => writeCertificates(rig.certDir, issued) },
  { name: 'a write into each file', rotate: overwrite },
  {
    name: 'a removal and a new file',
    rotate: (issued) => {
      for (const name of Object.keys(certificateFiles(issued))) unlinkSync(join(rig.certDir, name));
      overwrite(issued);
    },
  },
  {
    name: "Kubernetes' swap of ..data",
    prepare: afresh((files) => writeKubernetesVolume(rig.certDir, files)),
    rotate: (issued) => writeKubernetesVolume(rig.certDir, certificateFiles(issued)),
  },
  {
    name: 'chained links that end in another folder',
    prepare: afresh(chained),
    rotate: (issued) => writeKubernetesVolume(join(rig.folder, 'volume'), certificateFiles(issued)),
  },
  {
    name: 'another folder in the place of the old one',
    rotate: (issued) => {
      writeCertificates(join(rig.folder, 'fresh'), issued);
      renameSync(rig.certDir, join(rig.folder, `old-${issued.serial}`));
      renameSync(join(rig.folder, 'fresh'), rig.certDir);
    },
  },
];

it.each(layouts)('two rotations by $name are two epochs', async ({ prepare, rotate }) => {
  prepare?.();
  const agent = rig.start();
  await agent.said('epoch.live', 0);
  for (const epoch of [1, 2]) {
    const issued = await rig.ca.issue();
    rotate(issued);
    await agent.said('epoch.live', epoch);
    await expect.poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert)).toBe(issued.serial);
  }
  agent.kill('SIGKILL');
  expect(agent.log().filter(({ event }) => event === 'epoch.live')).toHaveLength(3);
});

it('a folder of certificates that appears later is waited for, and then watched', async () => {
  const late = join(rig.folder, 'deep', 'late');
  const appear = async (): Promise<void> => {
    const issued = await rig.ca.issue();
    mkdirSync(late, { recursive: true });
    writeFileSync(join(late, 'c.pem'), issued.certChain);
    writeFileSync(join(late, 'k.pem'), issued.key);
  };
  const agent = rig.start([], {
    env: {
      ISTIO_META_TLS_CLIENT_CERT_CHAIN: join(late, 'c.pem'),
      ISTIO_META_TLS_CLIENT_KEY: join(late, 'k.pem'),
    },
  });
  await agent.said('files.awaited');
  await appear();
  await agent.said('epoch.live', 0);
  await appear();
  await agent.said('epoch.live', 1);
});

it('the same bytes, other times and unrelated files change nothing', async () => {
  const agent = rig.start(['--log_output_level', 'default:debug']);
  await agent.said('epoch.live', 0);
  const chain = join(rig.certDir, 'cert-chain.pem');
  const write = () => {
    writeFileSync(join(rig.certDir, 'unrelated.pem'), 'x');
    copyFileSync(chain, `${chain}.new`);
    renameSync(`${chain}.new`, chain);
    utimesSync(chain, 1, 1);
  };
  // The agent does not report a change before it watches the files.
  await expect
    .poll(() => agent.log().some(({ event }) => event === 'config.change_seen') || write())
    .toBe(true);
  // The agent sees the next change in a later window than those before. If it makes epoch 1, those
  // before made none.
  await agent.said('config.unchanged');
  writeCertificates(rig.certDir, await rig.ca.issue());
  await agent.said('epoch.live', 1);
  expect(agent.log().filter(({ event }) => event === 'config.changed')).toHaveLength(1);
});

it('a thousand writes in a window are one epoch, with what was written last', async () => {
  const agent = rig.start(['--minDelay', '5s', '--log_output_level', 'default:debug']);
  await agent.said('epoch.live', 0);
  const chain = readFileSync(join(rig.certDir, 'cert-chain.pem'), 'utf8');
  const isHeard = () => agent.log().some(({ event }) => event === 'config.change_seen');
  // A change does not open a window before the agent watches the files.
  await expect
    .poll(() => isHeard() || writeFileSync(join(rig.certDir, 'cert-chain.pem'), chain))
    .toBe(true);
  await agent.said('config.unchanged');
  for (let n = 0; n < 1_000; n++)
    writeFileSync(join(rig.certDir, 'cert-chain.pem'), `${chain}\n# ${n}\n`);
  const issued = await rig.ca.issue();
  writeCertificates(rig.certDir, issued);
  await agent.said('epoch.live', 1);
  await expect.poll(() => servedSerial(rig.ports.listen, rig.ca.rootCert)).toBe(issued.serial);
  await agent.said('epoch.ended', 0);
  expect(agent.log().filter(({ event }) => event === 'config.changed')).toHaveLength(1);
});
