import { line, type LogLine } from '../../../shared/log/log-line.ts';
import type { IdentityEvent } from './socket-secrets.ts';

/**
 * Returns the log lines for an event of the workload socket at `path`. A refusal has no line here:
 * the secrets that it concerns are logged. Pure.
 */
export function narrateSocket(event: IdentityEvent, path: string): readonly LogLine[] {
  if (event.type !== 'identity-given') return [];
  const { id: identity, before } = event;
  return before === undefined
    ? [line('identity.given', { path, identity })]
    : [line('identity.changed', { path, identity, before })];
}
