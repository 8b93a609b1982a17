import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Subject, VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { certificateAuthority } from '../../demo/certificates.ts';
import { certificateExpiry, type CertificateSign } from '../../src/streams/certificate-expiry.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-expiry-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('says when a certificate expires that is served, once it has, and begins anew with the next epoch', async () => {
  const ca = await certificateAuthority();
  const path = join(folder, 'cert-chain.pem');
  const scheduler = new VirtualTimeScheduler(); // begins in 1970, when nothing has expired
  const write = async (seconds: number) => {
    writeFileSync(path, (await ca.issue({ notBefore: new Date(0), notAfter: new Date(seconds * 1_000) })).certChain);
  };
  const served$ = new Subject<number>();
  const signs: (CertificateSign & { readonly at?: number })[] = [];
  certificateExpiry([path, path, join(folder, 'absent.pem')], served$, scheduler).subscribe({
    next: (sign) => signs.push({ ...sign, at: scheduler.now() }),
    error: expect.unreachable,
  });

  await write(130);
  served$.next(0);
  await expect.poll(() => signs, { timeout: 5_000 }).toHaveLength(1);
  expect(signs).toEqual([{ type: 'certificates-read', certificates: [{ path, expiresAt: 130_000 }], at: 0 }]);
  scheduler.maxFrames = 600_000;
  scheduler.flush();
  expect(signs.slice(1)).toEqual([{ type: 'certificate-expired', certificate: { path, expiresAt: 130_000 }, at: 180_000 }]);

  await write(9_000);
  served$.next(1);
  await expect.poll(() => signs, { timeout: 5_000 }).toHaveLength(3);
  expect(signs[2]).toMatchObject({ certificates: [{ path, expiresAt: 9_000_000 }] });
});
