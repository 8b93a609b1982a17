import { expect, it } from 'vitest';
import { line, type LogLine } from '../../../../src/shared/log/log-line.ts';

const path = '/a';

it.each<[what: string, logLine: LogLine, expected: LogLine]>([
  [
    'an event that always says the same',
    line('xds.stored', { path }),
    {
      level: 'info',
      event: 'xds.stored',
      msg: 'the configuration of the control plane can be stored again',
      path,
    },
  ],
  [
    'an event without fields',
    line('sts.token_given'),
    { level: 'info', event: 'sts.token_given', msg: 'token given' },
  ],
  [
    'an event with a sentence that is made',
    line('demo.answers', { ok: 50 }, 50),
    { level: 'info', event: 'demo.answers', msg: 'the answers to 50 requests', ok: 50 },
  ],
  [
    'one sentence of several, with its level',
    line('drain.ended', { active: 2 }, 'cut'),
    {
      level: 'warn',
      event: 'drain.ended',
      msg: 'drain time is over: requests in flight are cut',
      active: 2,
    },
  ],
  [
    'one sentence of several that is made',
    line('envoy.log', { epoch: 0 }, 'trace', 'a message'),
    { level: 'trace', event: 'envoy.log', msg: 'a message', epoch: 0 },
  ],
])('%s', (_, logLine, expected) => {
  expect(logLine).toEqual(expected);
  expect(Object.keys(logLine)).toEqual(Object.keys(expected));
});
