import { lastValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { makeSources } from '../../../../../src/pilot-agent/run/sources/make-sources.ts';

const none = { defaultValue: undefined };

it('without a source there is nothing to read, and no change that would open a window', async () => {
  const { changes$, reading$ } = makeSources([]);
  expect(await lastValueFrom(reading$.pipe(toArray()), none)).toMatchObject([{ config: [] }]);
  expect(await lastValueFrom(changes$.pipe(toArray()), none)).toEqual([]);
});
