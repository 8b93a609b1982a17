import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { certificateAuthority } from '../../../demo/certificates.ts';
import { fileSource } from '../../../src/streams/file-source.ts';

const none = { hash: 'none', config: undefined, parts: () => [] };

describe('fileSource', () => {
  it('knows a certificate by its serial, the first one of a file, and nothing else by anything', async () => {
    const authority = await certificateAuthority();
    const [first, second] = [await authority.issue(), await authority.issue()];
    const folder = mkdtempSync(join(tmpdir(), 'file-source-'));
    const paths = ['chain', 'key', 'bad'].map((name) => join(folder, name));
    const texts = [
      `${first.certChain}\n${second.certChain}`,
      first.key,
      '-----BEGIN CERTIFICATE-----\nno\n',
    ];
    for (const [index, path] of paths.entries()) writeFileSync(path, texts[index] ?? '');
    const { parts } = await lastValueFrom(fileSource(paths).reading$, { defaultValue: none });
    rmSync(folder, { recursive: true });
    expect(parts().map(({ mark }) => mark)).toEqual([
      `serial ${first.serial}`,
      undefined,
      undefined,
    ]);
  });

  it('drops empty and repeated paths, and keeps the order of the others', async () => {
    const { reading$ } = fileSource(['', '/no/b', '/no/a', '/no/b', '']);
    const { hash, parts } = await lastValueFrom(reading$, { defaultValue: none });
    expect(hash).toBe(createHash('sha256').update('[["/no/b"],["/no/a"]]').digest('hex'));
    expect(parts().map(({ part }) => part)).toEqual(['/no/b', '/no/a']);
  });
});
