import { line, type LogLine } from '../../shared/log/log-line.ts';
import { span } from '../../shared/log/span.ts';
import {
  answered,
  type EnvoyStream,
  initialRelay,
  canServeEnvoy,
  leader,
  type RelayState,
  type Timed,
} from './relay-state.ts';
import { typeName } from '../../shared/xds/resources.ts';
import type { RelayTransition } from './xds-relay.ts';

/** The state of the connection to the control plane. Times in ms since 1970. */
export interface XdsSummary {
  /** `host:port`. */
  readonly address: string;
  /** Whether it has answered over the current connection. */
  readonly isAnswering: boolean;
  readonly trouble: { readonly reason: string; readonly since: number } | undefined;
  /**
   * When the configuration that Envoy serves was last confirmed; undefined unless it is a stored
   * one.
   */
  readonly storedOf: number | undefined;
  /** Whether there are clusters and listeners for an Envoy that starts. */
  readonly canServeEnvoy: boolean;
  /** When the control plane last sent something. */
  readonly updatedAt: number | undefined;
  /** The last NACK of Envoy, by type, until Envoy ACKs an answer. */
  readonly rejected: ReadonlyMap<string, { readonly at: number; readonly reason: string }>;
}

/** Returns the summary before the first event. Pure. */
export function firstSummary(address: string): XdsSummary {
  return {
    address,
    isAnswering: false,
    trouble: undefined,
    storedOf: undefined,
    canServeEnvoy: canServeEnvoy(initialRelay, 0, 0),
    updatedAt: undefined,
    rejected: new Map(),
  };
}

/** Returns the summary after a transition. Pure. */
export function summary(
  before: XdsSummary,
  address: string,
  maxAge: number,
  { event, before: earlier, state }: RelayTransition,
): XdsSummary {
  const { connection, trouble, good } = state;
  const { at: now } = event;
  return {
    address,
    isAnswering: connection.stage === 'answering',
    trouble: trouble && { reason: trouble.reason, since: trouble.since },
    storedOf: leader(state)?.isStored === true ? good?.confirmedAt : undefined,
    canServeEnvoy: canServeEnvoy(state, now, maxAge),
    updatedAt: event.type === 'updated' ? now : before.updatedAt,
    rejected:
      event.type === 'requested' ? verdictOn(before.rejected, event, earlier) : before.rejected,
  };
}

/** Returns the NACKs after a request of Envoy. An ACK clears the NACK of its type. */
function verdictOn(
  before: XdsSummary['rejected'],
  event: Extract<Timed, { type: 'requested' }>,
  earlier: RelayState,
): XdsSummary['rejected'] {
  if (answered(event, earlier) === undefined) return before;
  const { typeUrl, refusal } = event.request;
  const type = typeName(typeUrl);
  if (refusal !== undefined)
    return new Map(before).set(type, { at: event.at, reason: refusal.message });
  return before.has(type) ? new Map([...before].filter(([name]) => name !== type)) : before;
}

/** Whether two summaries are equal. Pure. */
export function isSameSummary(a: XdsSummary, b: XdsSummary): boolean {
  return (
    a.address === b.address &&
    a.isAnswering === b.isAnswering &&
    a.storedOf === b.storedOf &&
    a.canServeEnvoy === b.canServeEnvoy &&
    a.updatedAt === b.updatedAt &&
    a.rejected === b.rejected &&
    a.trouble?.reason === b.trouble?.reason &&
    a.trouble?.since === b.trouble?.since
  );
}

/** Returns the lines of the log for a transition; `address` is the control plane's. Pure. */
export function narrateXds(
  address: string,
  { event, before, state }: RelayTransition,
): readonly LogLine[] {
  return [
    ...refusals(event, before),
    ...acceptances(event, before),
    ...ofControlPlane(address, event, before, state),
    ...ofStore(address, event, before, state),
  ];
}

/** Returns a line if an Envoy NACKs an answer. */
function refusals(event: Timed, before: RelayState): readonly LogLine[] {
  if (event.type !== 'requested' || event.request.refusal === undefined) return [];
  const subscription = answered(event, before);
  if (subscription === undefined) return [];
  const { typeUrl, refusal } = event.request;
  const version = subscription.inFlight?.note.version ?? '';
  return [line('xds.rejected', { type: typeName(typeUrl), version, reason: refusal.message })];
}

/** Returns a line if an Envoy ACKs an answer after a NACK. */
function acceptances(event: Timed, before: RelayState): readonly LogLine[] {
  if (event.type !== 'requested' || event.request.refusal !== undefined) return [];
  if (answered(event, before)?.inFlight?.note.isAfterNack !== true) return [];
  return [line('xds.accepted', { type: typeName(event.request.typeUrl) })];
}

function ofControlPlane(
  address: string,
  event: Timed,
  before: RelayState,
  state: RelayState,
): readonly LogLine[] {
  const { trouble } = state;
  if (trouble?.loggedAt !== undefined && trouble.loggedAt !== before.trouble?.loggedAt) {
    const since = new Date(trouble.since).toISOString();
    const fields = { address, reason: trouble.reason, since };
    return [line('xds.unavailable', fields, without(leader(state)))];
  }
  if (event.type !== 'updated' || state.connection.stage === before.connection.stage) return [];
  const { name: controlPlane } = state.connection;
  if (before.trouble?.loggedAt === undefined) {
    return [line('xds.connected', { address, ...(controlPlane !== '' && { controlPlane }) })];
  }
  const forMs = event.at - before.trouble.since;
  return [line('xds.available', { address, forMs })];
}

/** Returns what an Envoy does without a control plane. */
function without(envoy: EnvoyStream | undefined) {
  if (envoy?.isStored === true) return 'stored';
  return envoy !== undefined && envoy.begunAt === undefined ? 'waits' : 'goesOn';
}

function ofStore(
  address: string,
  event: Timed,
  before: RelayState,
  state: RelayState,
): readonly LogLine[] {
  const { good, trouble } = state;
  const [was, is] = [leader(before)?.isStored === true, leader(state)?.isStored === true];
  if (good === undefined || was === is) return [];
  const confirmedAt = new Date(good.confirmedAt).toISOString();
  if (is) {
    const age = span(event.at - good.confirmedAt);
    const why = trouble?.reason ?? 'it has not answered yet';
    return [line('xds.stored_served', { of: confirmedAt }, age, address, why)];
  }
  if (state.connection.stage !== 'answering') return [];
  return [line('xds.stored_replaced', { address })];
}
