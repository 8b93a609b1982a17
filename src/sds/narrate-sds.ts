import type { LogLine } from '../log/log-line.ts';
import type { SdsEvent } from './sds-event.ts';

/** What there is to say of an event of the secret discovery server, if anything. Pure. */
export function narrateSds(event: SdsEvent): readonly LogLine[] {
  switch (event.type) {
    case 'listening':
      return [{ level: 'info', msg: 'secrets are served' }];
    case 'failed':
      return []; // it ends the agent, which says why
    case 'stream-opened':
    case 'stream-closed':
      return [];
    case 'stream-refused':
      return [{ level: 'warn', msg: 'a stream of secrets is refused', stream: event.stream, reason: event.reason }];
    case 'pushed':
      return secrets(event, { level: 'info', msg: 'secret pushed' });
    case 'accepted':
      return secrets(event, { level: 'info', msg: 'secret accepted by Envoy' });
    case 'rejected':
      return secrets(event, { level: 'error', msg: 'secret rejected by Envoy: it goes on with the one before', reason: event.reason });
    case 'missing':
      return [{ level: 'warn', msg: 'a secret is asked for that is not there', secret: event.name, stream: event.stream, reason: event.reason }]; // prettier-ignore
  }
}

function secrets({ stream, versions }: Extract<SdsEvent, { type: 'pushed' | 'accepted' | 'rejected' }>, line: LogLine): readonly LogLine[] {
  return [...versions].map(([secret, version]) => ({ ...line, secret, version, stream }));
}
