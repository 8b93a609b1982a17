import { expect, it } from 'vitest';
import { toBeShown } from '../../../src/proxy/envoy-lines.ts';

it('shows what each epoch repeats once, and what comes of each hot restart never', () => {
  const isShown = toBeShown();
  const limit =
    'There is no configured limit to the number of allowed active downstream connections. Configure a limit.';
  expect([limit, limit, 'terminating parent process', 'terminating'].map(isShown)).toEqual([
    true,
    false,
    false,
    true,
  ]);
});
