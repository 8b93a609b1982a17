import { isDeepStrictEqual } from 'node:util';
import { asyncScheduler } from 'rxjs';
import type { CaEvent } from '../../secrets/ca/ca-secrets.ts';
import {
  type CaCounts,
  caFamilies,
  countCa,
  narrateCa,
  noCa,
} from '../../secrets/ca/authority-telemetry.ts';
import { line, type LogLine } from '../../../shared/log/log-line.ts';
import type { MetricFamily } from '../../../shared/metrics/metric-family.ts';
import {
  countSds,
  narrateSds,
  noSds,
  type SdsCounts,
  type SdsEvent,
  sdsFamilies,
} from '../../secrets/sds/sds-telemetry.ts';
import type { IdentityEvent } from '../../secrets/workload-socket/socket-secrets.ts';
import { narrateSocket } from '../../secrets/workload-socket/narrate-socket.ts';
import type { ExpirySign } from '../../secrets/certificate-expiry.ts';
import { secretExpiry } from '../../secrets/certificates.ts';
import type { SecretState } from '../../secrets/secret.ts';
import { narrateExpiry, narrateSecret, secretFamilies } from '../../secrets/secret-telemetry.ts';
import { afterCa, afterSocket, type Awaiting } from '../state/awaited-authority.ts';
import type { PartFailed } from '../state/part.ts';
import {
  afterSds,
  afterState,
  listTroubles,
  noTroubles,
  type SecretTroubles,
  wasLogged,
} from '../state/secret-troubles.ts';
import type { ServersSign } from '../state/view.ts';
import { serversLog } from './servers-log.ts';

/** An event of the secrets, at their sources or on their way to Envoy. */
export type SecretsEvent =
  | { readonly type: 'ca'; readonly event: CaEvent; readonly address: string }
  | { readonly type: 'socket'; readonly event: IdentityEvent; readonly path: string }
  | { readonly type: 'secret'; readonly state: SecretState }
  | { readonly type: 'expiry'; readonly sign: ExpirySign }
  | { readonly type: 'not-written'; readonly path: string; readonly reason: string }
  /** Writing works again after a failure. */
  | { readonly type: 'written'; readonly path: string }
  | { readonly type: 'sds'; readonly event: SdsEvent }
  | PartFailed;

interface Counts {
  readonly sds: SdsCounts;
  readonly ca: CaCounts;
}

export const noCounts: Counts = { sds: noSds, ca: noCa };

/** Returns the counts after one more event. Pure. */
export function count(counts: Counts, happened: SecretsEvent): Counts {
  if (happened.type === 'ca') return { ...counts, ca: countCa(counts.ca, happened.event) };
  if (happened.type === 'sds') return { ...counts, sds: countSds(counts.sds, happened.event) };
  return counts;
}

/** Returns the current metrics. */
export function measure(
  states: readonly SecretState[],
  { sds, ca }: Counts,
): readonly MetricFamily[] {
  return [...secretFamilies(states, asyncScheduler.now()), ...sdsFamilies(sds), ...caFamilies(ca)];
}

interface SecretsStatus {
  readonly event: SecretsEvent;
  readonly troubles: SecretTroubles;
  readonly awaiting: Awaiting;
  /** The signs for troubles that have changed. */
  readonly news: readonly ServersSign[];
  /** The event was logged before. */
  readonly isOld: boolean;
}

export const initialStatus: SecretsStatus = {
  event: { type: 'sds', event: { type: 'listening' } },
  troubles: noTroubles,
  awaiting: { stage: 'not asked' },
  news: [],
  isOld: false,
};

/** Returns the newest event, and the troubles after it. Pure. */
export function statusAfter(
  { troubles: before, awaiting: awaitedBefore }: SecretsStatus,
  event: SecretsEvent,
): SecretsStatus {
  const troubles =
    event.type === 'secret'
      ? afterState(before, event.state)
      : event.type === 'sds'
        ? afterSds(before, event.event)
        : before;
  const awaiting =
    event.type === 'ca'
      ? afterCa(awaitedBefore, event.address, event.event)
      : event.type === 'socket'
        ? afterSocket(awaitedBefore, event.path, event.event)
        : awaitedBefore;
  const news: readonly ServersSign[] = [
    ...(awaiting === awaitedBefore
      ? []
      : [
          {
            type: 'authority-awaited',
            authority: awaiting.stage === 'awaited' ? awaiting : undefined,
          } as const,
        ]),
    ...(troubles === before || isDeepStrictEqual(listTroubles(troubles), listTroubles(before))
      ? []
      : [{ type: 'secrets-troubled', troubles: listTroubles(troubles) } as const]),
  ];
  return {
    event,
    troubles,
    awaiting,
    news,
    isOld: event.type === 'sds' && wasLogged(before, event.event),
  };
}

/** Returns the signs to emit for the newest event. Pure. */
export function signsOf({
  event,
  troubles,
  news,
  isOld,
}: SecretsStatus): readonly (ServersSign | PartFailed)[] {
  return [
    ...(isOld
      ? []
      : narrate(event, (name) => troubles.served.has(name)).map(serversLog('secrets'))),
    ...news,
    ...followed(event),
    ...outcome(event),
  ];
}

/** Returns the signs about a watched secret and its pushes. */
function followed(happened: SecretsEvent): readonly ServersSign[] {
  if (happened.type === 'secret') {
    const { name, source, served } = happened.state;
    return [
      {
        type: 'secret-followed',
        name,
        certificate: served && secretExpiry(name, source, served.secret),
      },
    ];
  }
  if (happened.type !== 'sds' || !('versions' in happened.event)) return [];
  const { type: state, versions } = happened.event;
  const reason = 'reason' in happened.event ? { reason: happened.event.reason } : {};
  return [...versions].map(([secret, version]) => ({
    type: 'secret-pushed',
    push: { secret, version, state, ...reason },
  }));
}

function narrate(happened: SecretsEvent, isServed: (name: string) => boolean): readonly LogLine[] {
  switch (happened.type) {
    case 'part-failed':
      return [];
    case 'ca':
      return narrateCa(happened.event);
    case 'socket':
      return narrateSocket(happened.event, happened.path);
    case 'secret':
      return narrateSecret(happened.state);
    case 'expiry':
      return [narrateExpiry(happened.sign)];
    case 'written':
      return [line('secret.written', { path: happened.path })];
    case 'not-written': {
      const { path, reason } = happened;
      return [line('secret.not_written', { path, reason })];
    }
    case 'sds':
      return narrateSds(happened.event, isServed);
  }
}

/** Returns the signs about the state of the server. */
function outcome(happened: SecretsEvent): readonly (ServersSign | PartFailed)[] {
  if (happened.type === 'part-failed') return [happened];
  if (happened.type !== 'sds') return [];
  const { event } = happened;
  if (event.type === 'failed')
    return [
      {
        type: 'servers-failed',
        exit: 'unavailable',
        reason: `the socket for secrets: ${event.reason}`,
      },
    ];
  return event.type === 'listening' ? [{ type: 'servers-listening' }] : [];
}
