import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { goodCsr } from '../hostile/attempts.ts';
import { askForCertificate, certificateRequest, secureSession } from '../hostile/secure-calls.ts';
import { type SecureStage, startSecureStage } from '../hostile/secure-stage.ts';
import { hasOtherTimes } from '../outages/control-planes.ts';
import { leftOut } from '../support/left-out.ts';

if (!hasOtherTimes)
  leftOut('a control plane whose clock is wrong: there is no faketime', 'a program');

const minute = 60_000;
const seconds = () => Math.floor(Date.now() / 1_000);

/** Returns the variables that set the clock of a program to the time in a file. */
function clockIn(file: string): Readonly<Record<string, string>> {
  const shown = execFileSync('faketime', ['-f', '+1m', 'env'], { encoding: 'utf8' });
  return {
    LD_PRELOAD: /^LD_PRELOAD=(.*)$/m.exec(shown)?.[1] ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

describe.skipIf(!hasOtherTimes)('a control plane whose clock is wrong', () => {
  let stage: SecureStage | undefined;
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-clock-'))));
  afterEach(async () => {
    await stage?.dispose();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['+10m', -5, { exp: seconds() + 300 }, /"exp" .*; the clock of the control plane says 2/],
    ['-10m', -25, { nbf: seconds() }, /"nbf" .*; the clock of the control plane says 2/],
  ] as const)(
    'by %s issues certificates that are valid now, and names its time for a token',
    async (clock, begins, claims, reason) => {
      const file = join(folder, 'clock');
      writeFileSync(file, clock);
      const running = (stage = await startSecureStage(clockIn(file)));
      const { port, roots } = running;
      const ask = async (client: Parameters<typeof secureSession>[0], token?: string) => {
        const session = secureSession(client);
        const answer = await askForCertificate(
          session,
          certificateRequest({ csr: goodCsr }),
          token,
        );
        session.destroy();
        return answer;
      };
      const begun = async (): Promise<number> => {
        const { chain } = await ask(await running.client('web'));
        const { validFrom } = new X509Certificate(chain[0] ?? expect.fail('no certificate'));
        return (Date.parse(validFrom) - Date.now()) / minute;
      };
      expect(await begun()).toBeCloseTo(begins, 0);
      const byToken = () => ask({ port, roots }, running.token('web', claims));
      expect(await byToken()).toMatchObject({
        status: 'UNAUTHENTICATED',
        details: expect.stringMatching(reason) as string,
      });
      writeFileSync(file, '+0');
      await expect.poll(async () => (await byToken()).status).toBe('OK');
      expect(await begun()).toBeCloseTo(-15, 0);
    },
  );
});
