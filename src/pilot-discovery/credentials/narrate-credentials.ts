import { line, type LogLine } from '../../shared/log/log-line.ts';
import type { CredentialEvent } from './credential-event.ts';

/** Returns the lines of the log for an event. Pure. */
export function narrateCredentials(event: CredentialEvent): readonly LogLine[] {
  switch (event.type) {
    case 'credential-read': {
      const { expires } = event;
      const notAfter = expires === undefined ? {} : { notAfter: new Date(expires).toISOString() };
      return [line('discovery.secret_read', { secret: placeOf(event), ...notAfter })];
    }
    case 'credential-refused':
      return [line('discovery.secret_refused', { secret: placeOf(event), reason: event.reason })];
    case 'credential-gone':
      return [line('discovery.secret_gone', { secret: placeOf(event) })];
    case 'credentials-allowed':
      return [line('discovery.secrets_allowed', { identity: event.identity })];
    case 'credentials-denied':
      return [line('discovery.secrets_denied', { identity: event.identity, reason: event.reason })];
  }
}

const placeOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
  `${namespace}/${name}`;
