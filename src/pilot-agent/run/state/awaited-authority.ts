import type { IdentityEvent } from '../../secrets/workload-socket/socket-secrets.ts';
import type { CaEvent } from '../../secrets/ca/ca-secrets.ts';

/** An authority that has not issued its first certificate yet. */
export interface AwaitedAuthority {
  /** `host:port`. */
  readonly address: string;
  /** Why there is no certificate. */
  readonly reason: string;
  /** When the agent first asked it: ms since 1970. */
  readonly since: number;
}

/** Whether the agent waits for an authority: a fold of the events of that authority. */
export type Awaiting =
  { readonly stage: 'not asked' | 'served' } | ({ readonly stage: 'awaited' } & AwaitedAuthority);

/** An event of an authority, as far as it matters here. */
type AwaitedAnswer =
  | Pick<Extract<CaEvent, { readonly type: 'asked' }>, 'type' | 'at'>
  | Pick<Extract<CaEvent, { readonly type: 'issued' }>, 'type'>
  | Pick<Extract<CaEvent, { readonly type: 'request-failed' }>, 'type' | 'reason'>;

/** Returns the state after one more event of the authority at `address`. Pure. */
export function afterCa(before: Awaiting, address: string, event: AwaitedAnswer): Awaiting {
  if (before.stage === 'served') return before;
  if (event.type === 'issued') return { stage: 'served' };
  if (event.type === 'asked') {
    return before.stage === 'awaited'
      ? before
      : { stage: 'awaited', address, reason: 'it has not answered yet', since: event.at };
  }
  return before.stage !== 'awaited' || before.reason === event.reason
    ? before
    : { ...before, reason: event.reason };
}

/** Returns the state after one more event of the workload socket at `path`. Pure. */
export function afterSocket(before: Awaiting, path: string, event: IdentityEvent): Awaiting {
  switch (event.type) {
    case 'socket-asked':
      return afterCa(before, path, { type: 'asked', at: event.at });
    case 'identity-refused':
      return afterCa(before, path, { type: 'request-failed', reason: event.reason });
    case 'identity-given':
      return afterCa(before, path, { type: 'issued' });
  }
}

/** Explains in one line why there is no certificate. Pure. */
export function awaitedText({ address, reason, since }: AwaitedAuthority): string {
  return `certificate authority ${address}: ${reason}, since ${new Date(since).toISOString()}`;
}
