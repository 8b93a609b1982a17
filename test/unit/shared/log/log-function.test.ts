import { expect, it } from 'vitest';
import { logFunction } from '../../../../src/shared/log/log-function.ts';
import type { LogLine } from '../../../../src/shared/log/log-line.ts';

const line = (level: LogLine['level'], event: LogLine['event'] = 'agent.started'): LogLine => ({
  level,
  event,
  msg: level,
});

it('a function gets the lines from the level on, and all of Envoy', () => {
  const messages: string[] = [];
  const log = logFunction(({ msg }) => messages.push(msg), 'warn');
  for (const level of ['info', 'warn', 'error'] as const) log.write(line(level));
  log.write(line('trace', 'envoy.log'));
  log.level('debug');
  log.write(line('debug'));
  log.level('none');
  log.write(line('fatal'));
  expect(messages).toEqual(['warn', 'error', 'trace', 'debug']);
});

it('a function that throws ends nothing', () => {
  const log = logFunction(() => {
    throw new Error('no room');
  }, 'info');
  expect(() => log.write(line('error'))).not.toThrow();
});
