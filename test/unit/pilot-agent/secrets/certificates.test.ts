import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, assert, beforeEach, describe, it } from 'vitest';
import {
  certificateAuthority,
  certificateFiles,
  writeCertificates,
  writeKubernetesVolume,
} from '../../../../demo/certificates.ts';

describe('certificates', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are signed by the CA, match their key, hold for localhost, and count up', async () => {
    const ca = await certificateAuthority();
    const issued = [await ca.issue(), await ca.issue()];
    const root = new X509Certificate(ca.rootCert);
    for (const { certChain, key, serial } of issued) {
      const certificate = new X509Certificate(certChain);
      assert.isTrue(certificate.checkIssued(root) && certificate.verify(root.publicKey));
      assert.isTrue(certificate.checkPrivateKey(createPrivateKey(key)));
      assert.equal(certificate.checkHost('localhost'), 'localhost');
      assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1');
      assert.equal(certificate.serialNumber, serial);
    }
    assert.deepEqual(
      issued.map(({ serial }) => serial),
      ['1000', '1001'],
    );
  });

  it('can be expired', async () => {
    const notAfter = new Date(1_700_000_000_000);
    const { certChain } = await (
      await certificateAuthority()
    ).issue({ notBefore: new Date(1_600_000_000_000), notAfter });
    assert.equal(Date.parse(new X509Certificate(certChain).validTo), notAfter.getTime());
  });

  it('are written side by side, the key for its owner only', async () => {
    const issued = await (await certificateAuthority()).issue();
    writeCertificates(folder, issued);
    assert.deepEqual(readdirSync(folder).sort(), ['cert-chain.pem', 'key.pem', 'root-cert.pem']);
    assert.equal(statSync(join(folder, 'key.pem')).mode & 0o777, 0o600);
    assert.equal(readFileSync(join(folder, 'cert-chain.pem'), 'utf8'), issued.certChain);
  });

  it('are swapped as kubelet does it', async () => {
    const ca = await certificateAuthority();
    writeKubernetesVolume(folder, certificateFiles(await ca.issue()));
    const before = readlinkSync(join(folder, '..data'));
    const next = await ca.issue();
    writeKubernetesVolume(folder, certificateFiles(next));
    const after = readlinkSync(join(folder, '..data'));
    assert.notEqual(after, before);
    assert.deepEqual(readdirSync(folder).sort(), [
      after,
      '..data',
      'cert-chain.pem',
      'key.pem',
      'root-cert.pem',
    ]);
    assert.equal(readlinkSync(join(folder, 'key.pem')), '..data/key.pem');
    assert.equal(readFileSync(join(folder, 'key.pem'), 'utf8'), next.key);
  });
});
