import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Subject, VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { certificateAuthority } from '../../../../demo/certificates.ts';
import {
  certificateExpiry,
  type CertificateSign,
} from '../../../../src/pilot-agent/secrets/certificate-expiry.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-agent-expiry-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('says when a certificate expires that is served, once it has, and begins anew with the next epoch', async () => {
  const ca = await certificateAuthority();
  const path = join(folder, 'cert-chain.pem');
  const scheduler = new VirtualTimeScheduler(); // it begins in 1970, when nothing has expired
  const write = async (seconds: number) => {
    writeFileSync(
      path,
      (await ca.issue({ notBefore: new Date(0), notAfter: new Date(seconds * 1_000) })).certChain,
    );
  };
  const served$ = new Subject<number>();
  const signs: (CertificateSign & { readonly at?: number })[] = [];
  const file = { name: `file-cert:${path}~key.pem`, kind: 'pair', path } as const;
  const roots = { name: `file-root:${path}`, kind: 'roots', path } as const;
  certificateExpiry(
    [file, roots, { ...file, path: join(folder, 'absent.pem') }],
    served$,
    scheduler,
  ).subscribe({
    next: (sign) => signs.push({ ...sign, at: scheduler.now() }),
    error: expect.unreachable,
  });

  await write(130);
  served$.next(0);
  await expect.poll(() => signs).toHaveLength(1);
  expect(signs).toEqual([
    {
      type: 'certificates-read',
      certificates: [file, roots].map(({ name }) => ({
        name,
        source: path,
        expiresAt: 130_000,
        leaf: expect.objectContaining({ notAfter: 130_000 }) as object,
      })),
      at: 0,
    },
  ]);
  scheduler.maxFrames = 600_000;
  scheduler.flush();
  const expectedSign = (name: string, type: string, time: number) => ({
    type,
    at: time,
    certificate: expect.objectContaining({
      name,
      path,
      serial: '1000',
      expires: 130_000,
    }) as object,
  });
  expect(signs.slice(1)).toEqual([
    ...[file, roots].map(({ name }) => expectedSign(name, 'certificate-expiring', 120_000)),
    ...[file, roots].map(({ name }) => expectedSign(name, 'certificate-expired', 130_000)),
  ]);

  await write(9_000);
  served$.next(1);
  await expect.poll(() => signs).toHaveLength(6);
  expect(signs[5]).toMatchObject({
    certificates: [
      { source: path, expiresAt: 9_000_000 },
      { source: path, expiresAt: 9_000_000 },
    ],
  });
});
