/**
 * How long a test may take, and a poll in it, in ms. They end what hangs: a machine that is busy
 * may take several times as long as a quiet one, and no test is about the clock.
 */
export const limits = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { interval: 20, timeout: 60_000 } },
};
