import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attempts, madeAttempt } from '../hostile/attempts.ts';
import { type SecureStage, startSecureStage } from '../hostile/secure-stage.ts';

describe('an attempt at the secure port has its status and its line of the log', () => {
  let stage: SecureStage;
  beforeAll(async () => {
    stage = await startSecureStage();
  });
  afterAll(() => stage.dispose());

  it.each(attempts.map((attempt) => [attempt.name, attempt] as const))('%s', async (_, attempt) => {
    const { wrong, outcome } = await madeAttempt(attempt, stage);
    expect(wrong, JSON.stringify(outcome)).toBe('');
  });
});
