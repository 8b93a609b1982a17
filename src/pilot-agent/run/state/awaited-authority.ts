import type { CaEvent } from '../../secrets/ca/ca-secrets.ts';

/** An authority of which the first certificate is not there yet. */
export interface AwaitedAuthority {
  /** `host:port`. */
  readonly address: string;
  /** What is wrong with it. */
  readonly reason: string;
  /** When it was asked first: ms since 1970. */
  readonly since: number;
}

/** Whether an authority is awaited. A fold of what happens with it. */
export type Awaiting =
  { readonly stage: 'not asked' | 'served' } | ({ readonly stage: 'awaited' } & AwaitedAuthority);

/** Once more has happened with the authority at `address`. Pure. */
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

/** Why there is no certificate, in one line. Pure. */
export function awaitedText({ address, reason, since }: AwaitedAuthority): string {
  return `certificate authority ${address}: ${reason}, since ${new Date(since).toISOString()}`;
}
