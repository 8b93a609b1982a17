/**
 * The time limits of a test, of a hook, and of a poll in them, in ms. They only end tests that
 * hang: a busy machine may take several times as long as a quiet one.
 */
export const limits = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { interval: 20, timeout: 60_000 } },
};
