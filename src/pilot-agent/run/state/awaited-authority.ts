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

/** Returns the state after one more event of the authority at `address`. Pure. */
export function afterCa(before: Awaiting, address: string, event: CaEvent): Awaiting {
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

/** Explains in one line why there is no certificate. Pure. */
export function awaitedText({ address, reason, since }: AwaitedAuthority): string {
  return `certificate authority ${address}: ${reason}, since ${new Date(since).toISOString()}`;
}
