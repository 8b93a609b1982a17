import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  certificateAuthority,
  type Issued,
  writeCertificates,
} from '../../../../demo/certificates.ts';
import { readSecretFiles } from '../../../../src/pilot-agent/secrets/file-secrets.ts';
import type { SetReading } from '../../../../src/pilot-agent/secrets/secret.ts';

const ca = await certificateAuthority();
let folder: string;
let issued: Issued;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'secret-files-'));
  issued = await ca.issue();
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = (name: string) => join(folder, name);
const read = () =>
  lastValueFrom(
    readSecretFiles({
      chain: path('cert-chain.pem'),
      key: path('key.pem'),
      root: path('root-cert.pem'),
    }),
    {
      defaultValue: undefined,
    },
  );
const refused = (reason: string) => ({
  type: 'refused',
  reason: expect.stringContaining(reason) as string,
});

describe('readSecretFiles', () => {
  it('finds what is there, and what has a text', async () => {
    expect(await read()).toMatchObject(refused('neither a certificate nor a root is there'));
    writeCertificates(folder, issued);
    const { certChain: chain, rootCert: roots } = issued;
    const key = Buffer.from(issued.key);
    expect(await read()).toMatchObject({
      type: 'set',
      set: { pair: { chain, key }, roots },
    } satisfies Partial<SetReading>);
    writeFileSync(path('root-cert.pem'), '');
    expect(await read()).toMatchObject({
      set: { pair: { chain, key } },
      refused: { roots: expect.stringContaining('the root is empty') as string },
    });
    rmSync(path('root-cert.pem'));
    expect(await read()).toMatchObject({ type: 'set', set: { pair: { chain, key } } });
    rmSync(path('key.pem'));
    expect(await read()).toMatchObject(refused('the key is missing'));
  });

  it('refuses a wrong pair alone, and the roots beside it alone', async () => {
    const { key: other } = await (await certificateAuthority()).issue();
    writeCertificates(folder, { ...issued, key: other });
    expect(await read()).toEqual({
      type: 'set',
      source: ['cert-chain.pem', 'key.pem', 'root-cert.pem'].map(path).join(', '),
      set: { roots: issued.rootCert },
      refused: {
        pair: expect.stringContaining(
          `${path('cert-chain.pem')}, ${path('key.pem')}: the key does not match the certificate (`,
        ) as string,
      },
    });
    writeFileSync(path('root-cert.pem'), 'no PEM');
    expect(await read()).toMatchObject(
      refused(
        `both have to be of one pair; ${path('root-cert.pem')}: no root certificate is in it`,
      ),
    );
  });

  it('is not held up by what is not a file', async () => {
    writeCertificates(folder, issued);
    rmSync(path('root-cert.pem'));
    execFileSync('mkfifo', [path('root-cert.pem')]);
    expect(await read()).toMatchObject({
      set: { pair: {} },
      refused: {
        roots: `${path('root-cert.pem')} cannot be read: it is a FIFO, and not a regular file`,
      },
    });
    rmSync(path('root-cert.pem'));
    mkdirSync(path('root-cert.pem'));
    expect(await read()).toMatchObject({
      set: { pair: {} },
      refused: { roots: expect.stringContaining('it is a directory') as string },
    });
  });

  it.each([
    ['cert-chain.pem', 2_501, 'it has 2501 certificates, and the limit is 100'],
    ['root-cert.pem', 2_501, 'it has 2501 certificates, and the limit is 500'],
  ])('refuses more certificates than can be read in time: %s', async (name, count, reason) => {
    const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    writeCertificates(folder, issued);
    writeFileSync(path(name), certificate.repeat(count));
    expect(JSON.stringify(await read())).toContain(reason);
  });

  it('refuses a file of 10 MB', async () => {
    writeCertificates(folder, issued);
    writeFileSync(path('key.pem'), Buffer.alloc(10_000_000));
    expect(await read()).toMatchObject({
      refused: {
        pair: `${path('key.pem')} cannot be read: it has 10000000 bytes, and 1048576 are read at most`,
      },
    });
  });
});
