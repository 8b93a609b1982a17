import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { fileSource, hashFiles } from '../../src/streams/file-source.ts';
describe('fileSource', () => {
  it('drops empty and repeated paths, and keeps the order of the others', async () => {
    const { reading$ } = fileSource(['', '/b', '/a', '/b', '']);
    const nothing = { hash: 'none', config: undefined, parts: () => [] };
    expect((await firstValueFrom(reading$, { defaultValue: nothing })).hash).toBe(
      await firstValueFrom(hashFiles(['/b', '/a']), { defaultValue: '' }),
    );
  });
});
