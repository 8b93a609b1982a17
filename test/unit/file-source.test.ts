import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { fileSource, hashFiles } from '../../src/streams/file-source.ts';
describe('fileSource', () => {
  it('drops empty and repeated paths, and keeps the order of the others', async () => {
    const { hash$ } = fileSource(['', '/b', '/a', '/b', '']);
    expect(await firstValueFrom(hash$, { defaultValue: 'none' })).toBe(await firstValueFrom(hashFiles(['/b', '/a']), { defaultValue: '' }));
  });
});
