import { createHash } from 'node:crypto';
import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { fileSource } from '../../src/streams/file-source.ts';

describe('fileSource', () => {
  it('drops empty and repeated paths, and keeps the order of the others', async () => {
    const { reading$ } = fileSource(['', '/no/b', '/no/a', '/no/b', '']);
    const { hash, parts } = await lastValueFrom(reading$, { defaultValue: { hash: 'none', config: undefined, parts: () => [] } });
    expect(hash).toBe(createHash('sha256').update('[["/no/b"],["/no/a"]]').digest('hex'));
    expect(parts().map(({ part }) => part)).toEqual(['/no/b', '/no/a']);
  });
});
