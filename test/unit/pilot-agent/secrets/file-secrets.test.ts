import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  certificateAuthority,
  certificateFiles,
  type Issued,
  writeCertificates,
  writeKubernetesVolume,
} from '../../../../demo/certificates.ts';
import { fileSecrets } from '../../../../src/pilot-agent/secrets/file-secrets.ts';
import type { SetReading } from '../../../../src/pilot-agent/secrets/secret.ts';

const ca = await certificateAuthority();
let folder: string;
let certs: string;
let subscription: Subscription | undefined;
let readings: SetReading[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-secrets-'));
  certs = join(folder, 'certs');
  readings = [];
});
afterEach(() => {
  subscription?.unsubscribe();
  rmSync(folder, { recursive: true });
});

const overwrite = (issued: Issued) => {
  for (const [name, text] of Object.entries(certificateFiles(issued)))
    writeFileSync(join(certs, name), text);
};
const links = (issued: Issued) => {
  writeKubernetesVolume(join(folder, 'volume'), certificateFiles(issued));
  for (const directory of ['links', 'certs']) mkdirSync(join(folder, directory));
  for (const name of Object.keys(certificateFiles(issued))) {
    symlinkSync(join('..', 'volume', name), join(folder, 'links', name));
    symlinkSync(join('..', 'links', name), join(certs, name));
  }
};
const plain = (issued: Issued) => {
  mkdirSync(certs);
  writeCertificates(certs, issued);
};

interface Layout {
  readonly name: string;
  readonly prepare: (issued: Issued) => void;
  readonly rotate: (issued: Issued) => void;
}

const layouts: readonly Layout[] = [
  {
    name: 'a rename over each file',
    prepare: plain,
    rotate: (issued) => writeCertificates(certs, issued),
  },
  { name: 'a write into each file', prepare: plain, rotate: overwrite },
  {
    name: 'a removal and a new file',
    prepare: plain,
    rotate: (issued) => {
      for (const name of Object.keys(certificateFiles(issued))) unlinkSync(join(certs, name));
      overwrite(issued);
    },
  },
  {
    name: "Kubernetes' swap of ..data",
    prepare: (issued) => writeKubernetesVolume(certs, certificateFiles(issued)),
    rotate: (issued) => writeKubernetesVolume(certs, certificateFiles(issued)),
  },
  {
    name: 'chained links that end in another folder',
    prepare: links,
    rotate: (issued) => writeKubernetesVolume(join(folder, 'volume'), certificateFiles(issued)),
  },
  {
    name: 'another folder in the place of the old one',
    prepare: plain,
    rotate: (issued) => {
      writeCertificates(join(folder, 'fresh'), issued);
      renameSync(certs, join(folder, `old-${issued.serial}`));
      renameSync(join(folder, 'fresh'), certs);
    },
  },
];

const follow = () => {
  const error = (thrown: unknown) => {
    throw thrown;
  };
  const paths = {
    chain: join(certs, 'cert-chain.pem'),
    key: join(certs, 'key.pem'),
    root: join(certs, 'root-cert.pem'),
  };
  subscription = fileSecrets(paths).subscribe({ next: (reading) => readings.push(reading), error });
};
const sets = () => readings.flatMap((reading) => (reading.type === 'set' ? [reading.set] : []));
const comes = ({ certChain: chain, key, rootCert: roots }: Issued) =>
  expect.poll(() => sets().at(-1)).toEqual({ pair: { chain, key: Buffer.from(key) }, roots });

describe('a set of files', () => {
  it.each(layouts)(
    'comes whole, and again after each rotation by $name',
    async ({ prepare, rotate }) => {
      const first = await ca.issue();
      const all = [first, await ca.issue(), await ca.issue()];
      prepare(first);
      follow();
      for (const issued of all) {
        if (issued !== first) rotate(issued);
        await comes(issued);
      }
      const keyOf = new Map(all.map(({ certChain, key }) => [certChain, key]));
      for (const { pair } of sets())
        // A pair is never half of one and half of another.
        expect(keyOf.get(pair?.chain ?? '')).toBe(pair?.key.toString());
    },
  );

  it('comes when its folder does', async () => {
    const issued = await ca.issue();
    follow();
    await expect.poll(() => readings).toContainEqual(expect.objectContaining({ type: 'refused' }));
    plain(issued);
    await comes(issued);
  });

  it('with the root of another authority comes with that root', async () => {
    const other = await certificateAuthority('another');
    const issued = await ca.issue();
    plain(issued);
    follow();
    await comes(issued);
    const roots = issued.rootCert + other.rootCert;
    writeFileSync(join(certs, 'root-cert.pem'), roots);
    await comes({ ...issued, rootCert: roots });
  });
});
