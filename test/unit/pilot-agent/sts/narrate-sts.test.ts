import { expect, it } from 'vitest';
import { narrateSts } from '../../../../src/pilot-agent/sts/sts-telemetry.ts';

const reason = 'invalid_grant';

it('the token server tells each answer, and never a token', () => {
  const answered = { type: 'answered', took: 5 } as const;
  expect(narrateSts({ ...answered, status: 200, reason: '' }, 1)).toEqual({
    level: 'info',
    event: 'sts.token_given',
    msg: 'token given',
  });
  expect(narrateSts({ ...answered, status: 400, reason }, 1)).toEqual({
    level: 'warn',
    event: 'sts.token_refused',
    msg: 'no token is given',
    status: 400,
    reason,
  });
});

it('the token server tells where it listens, and what it could not take', () => {
  expect(narrateSts({ type: 'listening' }, 15_000)).toMatchObject({
    event: 'sts.listening',
    port: 15_000,
  });
  expect(narrateSts({ type: 'not-taken', reason }, 15_000)).toMatchObject({
    event: 'connection.not_taken',
    server: 'port 15000',
    reason,
  });
});
