import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

it('the reference of all exports is made without a warning', { timeout: 180_000 }, () => {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['node_modules/typedoc/bin/typedoc', '--emit', 'none'],
    {
      encoding: 'utf8',
    },
  );
  expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
});
