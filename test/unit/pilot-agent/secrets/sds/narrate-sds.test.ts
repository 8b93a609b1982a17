import { expect, it } from 'vitest';
import {
  narrateSds,
  type SdsEvent,
} from '../../../../../src/pilot-agent/secrets/sds/sds-telemetry.ts';

const stream = 1;
const node = 'sidecar';
const reason = 'no';
const versions = new Map([
  ['default', 'a'],
  ['ROOTCA', 'b'],
]);
const each = (line: object) => [
  { ...line, secret: 'default', version: 'a', stream },
  { ...line, secret: 'ROOTCA', version: 'b', stream },
];

it.each<[event: SdsEvent, lines: readonly object[]]>([
  [{ type: 'listening' }, [{ level: 'info', event: 'sds.listening', msg: 'secrets are served' }]],
  [
    { type: 'stream-refused', stream, reason },
    [
      {
        level: 'warn',
        event: 'sds.stream_refused',
        msg: 'a stream of secrets is refused',
        stream,
        reason,
      },
    ],
  ],
  [
    { type: 'pushed', stream, node, versions },
    each({ level: 'debug', event: 'secret.pushed', msg: 'secret pushed' }),
  ],
  [
    { type: 'accepted', stream, node, versions },
    each({ level: 'info', event: 'secret.accepted', msg: 'Envoy has ACKed the secret' }),
  ],
  [
    { type: 'rejected', stream, node, versions, reason },
    [
      {
        level: 'error',
        event: 'secret.rejected',
        msg: 'Envoy has NACKed the secret, and keeps the previous one',
        ...{ reason, secret: 'default', version: 'a', stream },
      },
      {
        level: 'error',
        event: 'secret.rejected',
        msg: 'Envoy has NACKed the secret, and has no other one',
        ...{ reason, secret: 'ROOTCA', version: 'b', stream },
      },
    ],
  ],
])('$type is said for each secret that it is about', (event, lines) => {
  expect(narrateSds(event, (name) => name === 'default')).toEqual(lines);
});
