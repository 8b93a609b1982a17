import type { LogLine } from '../log/log-line.ts';
import { goCounter, type MetricFamily } from '../metrics/metric-family.ts';
import { pushesByType, rejectsByType } from '../metrics/pushes.ts';
import { type EnvoyStream, isHeld, leader, type RelayState, type Timed } from './relay-state.ts';
import { mainTypes, shortName, typeName } from './resources.ts';
import type { RelayTransition } from './xds-relay.ts';

/** How it stands with the control plane. Times in ms since 1970. */
export interface XdsSummary {
  /** `host:port`. */
  readonly address: string;
  /** It has answered over the connection that there is. */
  readonly isAnswering: boolean;
  readonly trouble: { readonly reason: string; readonly since: number } | undefined;
  /** When what Envoy serves was confirmed last, where that is stored. */
  readonly storedOf: number | undefined;
  /** There are clusters and listeners for an Envoy that starts. */
  readonly isHeld: boolean;
}

/** How it stands at a time: ms since 1970. Pure. */
export function summary(address: string, maxAge: number, state: RelayState, at: number): XdsSummary {
  const { connection, trouble, good } = state;
  return {
    address,
    isAnswering: connection.stage === 'answering',
    trouble: trouble && { reason: trouble.reason, since: trouble.since },
    storedOf: leader(state)?.isStored === true ? good?.confirmedAt : undefined,
    isHeld: isHeld(state, at, maxAge),
  };
}

/** Two summaries say the same. Pure. */
export function isSameSummary(a: XdsSummary, b: XdsSummary): boolean {
  return (
    a.address === b.address &&
    a.isAnswering === b.isAnswering &&
    a.storedOf === b.storedOf &&
    a.isHeld === b.isHeld &&
    a.trouble?.reason === b.trouble?.reason &&
    a.trouble?.since === b.trouble?.since
  );
}

/** How long something took or is ago, for a person: `14 min`. Pure. */
export function span(ms: number): string {
  const units = [['d', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1_000]] as const; // prettier-ignore
  const [unit, length] = units.find(([, length]) => ms >= 2 * length) ?? (['s', 1_000] as const);
  return `${Math.round(ms / length)} ${unit}`;
}

/** What there is to say of a transition, at the control plane `address`. Pure. */
export function narrateXds(address: string, { event, before, state }: RelayTransition): readonly LogLine[] {
  return [...refusals(event, before), ...ofControlPlane(address, event, before, state), ...ofStore(address, event, before, state)];
}

/** What an Envoy refuses of what it was given. */
function refusals(event: Timed, { streams }: RelayState): readonly LogLine[] {
  if (event.type !== 'requested' || event.request.refusal === undefined) return [];
  const { typeUrl, nonce, refusal } = event.request;
  const subscription = streams.get(event.stream)?.subscriptions.get(typeUrl);
  if (subscription?.inFlight?.nonce !== nonce) return [];
  const { version } = subscription;
  return [
    {
      level: 'error',
      event: 'xds.rejected',
      msg: 'Envoy rejects what the control plane has sent, and goes on with what it has',
      ...{ type: typeName(typeUrl), version, reason: refusal.message },
    },
  ];
}

function ofControlPlane(address: string, event: Timed, before: RelayState, state: RelayState): readonly LogLine[] {
  const { trouble } = state;
  if (trouble?.toldAt !== undefined && trouble.toldAt !== before.trouble?.toldAt) {
    const msg = `the control plane is not available: ${without(leader(state))}`;
    return [
      { level: 'warn', event: 'xds.unavailable', msg, address, reason: trouble.reason, since: new Date(trouble.since).toISOString() },
    ];
  }
  if (event.type !== 'updated' || state.connection.stage === before.connection.stage) return [];
  const { name: controlPlane } = state.connection;
  if (before.trouble?.toldAt === undefined) {
    return [
      {
        level: 'info',
        event: 'xds.connected',
        msg: 'connected to the control plane',
        address,
        ...(controlPlane !== '' && { controlPlane }),
      },
    ];
  }
  const forMs = event.at - before.trouble.since;
  return [{ level: 'info', event: 'xds.available', msg: 'the control plane is available again', address, forMs }];
}

/** What an Envoy does without a control plane. */
function without(envoy: EnvoyStream | undefined): string {
  if (envoy?.isStored === true) return 'Envoy is given what is stored';
  return envoy?.hasBegun === false ? 'Envoy waits for its configuration: not ready' : 'Envoy goes on with what it has';
}

function ofStore(address: string, event: Timed, before: RelayState, state: RelayState): readonly LogLine[] {
  const { good, trouble } = state;
  const [was, is] = [leader(before)?.isStored === true, leader(state)?.isStored === true];
  if (good === undefined || was === is) return [];
  const of = new Date(good.confirmedAt).toISOString();
  if (is) {
    const why = `the control plane ${address}: ${trouble?.reason ?? 'it has not answered yet'}`;
    return [
      {
        level: 'warn',
        event: 'xds.stored_served',
        msg: `serving the configuration of ${span(event.at - good.confirmedAt)} ago: ${why}`,
        of,
      },
    ];
  }
  if (state.connection.stage !== 'answering') return [];
  return [{ level: 'info', event: 'xds.stored_replaced', msg: 'the control plane has replaced the stored configuration', address }];
}

/** How often what has happened; of pushes, and of what Envoy rejected, by type. */
export interface XdsCounts {
  readonly requests: number;
  readonly responses: number;
  readonly pushes: ReadonlyMap<string, number>;
  readonly rejected: ReadonlyMap<string, number>;
  readonly failures: number;
  readonly terminations: number;
  readonly closed: number;
}

export const noXds: XdsCounts = {
  requests: 0,
  responses: 0,
  pushes: new Map(mainTypes.map((typeUrl) => [shortName(typeUrl), 0])),
  rejected: new Map(mainTypes.map((typeUrl) => [shortName(typeUrl), 0])),
  failures: 0,
  terminations: 0,
  closed: 0,
};

/** Counts one transition. Pure. */
export function countXds(before: XdsCounts, transition: RelayTransition): XdsCounts {
  const counts = { ...before, pushes: pushed(transition).reduce(oneMore, before.pushes) };
  const { event } = transition;
  switch (event.type) {
    case 'requested': {
      const isRefused = refusals(event, transition.before).length > 0;
      return { ...counts, requests: counts.requests + 1, ...(isRefused && { rejected: oneMore(counts.rejected, event.request.typeUrl) }) };
    }
    case 'updated':
      return { ...counts, responses: counts.responses + 1 };
    case 'lost':
      return transition.before.connection.stage === 'answering'
        ? { ...counts, terminations: counts.terminations + 1 }
        : { ...counts, failures: counts.failures + 1 };
    case 'stream-closed':
      return { ...counts, closed: counts.closed + 1 };
    default:
      return counts;
  }
}

function oneMore(counts: ReadonlyMap<string, number>, typeUrl: string): ReadonlyMap<string, number> {
  const name = shortName(typeUrl);
  return new Map(counts).set(name, (counts.get(name) ?? 0) + 1);
}

/** The types of what a transition gives to Envoys. */
function pushed({ before, state }: RelayTransition): readonly string[] {
  if (before.streams === state.streams) return [];
  return [...state.streams].flatMap(([number, { pushes, subscriptions }]) => {
    const earlier = before.streams.get(number);
    if (earlier?.pushes === pushes) return [];
    const nonce = (from: typeof subscriptions | undefined, typeUrl: string) => from?.get(typeUrl)?.inFlight?.nonce;
    return [...subscriptions.keys()].filter((typeUrl) => {
      const given = nonce(subscriptions, typeUrl);
      return given !== undefined && given !== nonce(earlier?.subscriptions, typeUrl);
    });
  });
}

/**
 * The counts, and how it stands, as metrics, under the names of the Go agent (1.8 and later) where
 * it has them. Pure.
 *
 * @param now ms since 1970
 */
export function xdsFamilies(counts: XdsCounts, { isAnswering, storedOf }: XdsSummary, now: number): readonly MetricFamily[] {
  return [
    goCounter('xds_proxy_requests', 'Requests of Envoy to the xDS proxy', [{ value: counts.requests }]),
    goCounter('xds_proxy_responses', 'Answers of the control plane to the xDS proxy', [{ value: counts.responses }]),
    pushesByType(counts.pushes),
    rejectsByType(counts.rejected),
    goCounter('istiod_connection_failures', 'Attempts to reach the control plane without an answer', [{ value: counts.failures }]),
    goCounter('istiod_connection_terminations', 'Connections to the control plane that ended', [{ value: counts.terminations }]),
    goCounter('envoy_connection_terminations', 'Streams of Envoy to the xDS proxy that ended', [{ value: counts.closed }]),
    {
      name: 'istio_agent_xds_control_plane_connected',
      type: 'gauge',
      help: 'Whether the control plane answers',
      samples: [{ value: Number(isAnswering) }],
    },
    {
      name: 'istio_agent_xds_stored_age_seconds',
      type: 'gauge',
      help: 'Age of the stored configuration, if Envoy serves that',
      samples: storedOf === undefined ? [] : [{ value: (now - storedOf) / 1_000 }],
    },
  ];
}
