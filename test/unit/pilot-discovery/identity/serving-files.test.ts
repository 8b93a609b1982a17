import { createPrivateKey } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { certificateAuthority } from '../../../../demo/certificates.ts';
import { servingFiles } from '../../../../src/pilot-discovery/identity/serving-files.ts';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'serving-files-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it.each(['pkcs8', 'sec1'] as const)('refuses an encrypted key (%s)', async (type) => {
  const ca = await certificateAuthority();
  const { certChain, key, rootCert } = await ca.issue();
  const encrypted = createPrivateKey(key).export({
    ...{ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
  } as const);
  const write = (name: string, text: string | Buffer) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const paths = {
    chain: write('tls.crt', certChain),
    key: write('tls.key', encrypted),
    roots: [write('ca.crt', rootCert)],
  };
  expect(await firstValueFrom(servingFiles(paths), { defaultValue: undefined })).toEqual({
    type: 'unserved',
    reason: `${paths.chain}, ${paths.key}: the key is encrypted, and there is no password for it`,
  });
});
