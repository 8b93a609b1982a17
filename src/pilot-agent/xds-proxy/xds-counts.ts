import { goCounter, type MetricFamily } from '../../shared/metrics/metric-family.ts';
import { pushesByType, rejectsByType } from '../secrets/push-families.ts';
import { answered } from './relay-state.ts';
import { mainTypes, shortName } from '../../shared/xds/resources.ts';
import type { XdsSummary } from './relay-telemetry.ts';
import type { RelayTransition } from './xds-relay.ts';

/** How often each event happened; pushes and NACKs are counted by type. */
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
      const isRefused =
        event.request.refusal !== undefined && answered(event, transition.before) !== undefined;
      return {
        ...counts,
        requests: counts.requests + 1,
        ...(isRefused && { rejected: oneMore(counts.rejected, event.request.typeUrl) }),
      };
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

function oneMore(
  counts: ReadonlyMap<string, number>,
  typeUrl: string,
): ReadonlyMap<string, number> {
  const name = shortName(typeUrl);
  return new Map(counts).set(name, (counts.get(name) ?? 0) + 1);
}

/** Returns the types that a transition sends to Envoys. */
function pushed({ before, state }: RelayTransition): readonly string[] {
  if (before.streams === state.streams) return [];
  return [...state.streams].flatMap(([number, { pushes, subscriptions }]) => {
    const earlier = before.streams.get(number);
    if (earlier?.pushes === pushes) return [];
    const nonce = (from: typeof subscriptions | undefined, typeUrl: string) =>
      from?.get(typeUrl)?.inFlight?.nonce;
    return [...subscriptions.keys()].filter((typeUrl) => {
      const latestNonce = nonce(subscriptions, typeUrl);
      return latestNonce !== undefined && latestNonce !== nonce(earlier?.subscriptions, typeUrl);
    });
  });
}

/**
 * Returns the counts and the state of the connection as metrics, with the names that the Go agent
 * (1.8 and later) uses, if any. Pure.
 *
 * @param now ms since 1970
 */
export function xdsFamilies(
  counts: XdsCounts,
  { isAnswering, storedOf }: XdsSummary,
  now: number,
): readonly MetricFamily[] {
  return [
    goCounter('xds_proxy_requests', 'Requests of Envoy to the xDS proxy', [
      { value: counts.requests },
    ]),
    goCounter('xds_proxy_responses', 'Answers of the control plane to the xDS proxy', [
      { value: counts.responses },
    ]),
    pushesByType(counts.pushes),
    rejectsByType(counts.rejected),
    goCounter(
      'istiod_connection_failures',
      'Attempts to reach the control plane without an answer',
      [{ value: counts.failures }],
    ),
    goCounter('istiod_connection_terminations', 'Connections to the control plane that ended', [
      { value: counts.terminations },
    ]),
    goCounter('envoy_connection_terminations', 'Streams of Envoy to the xDS proxy that ended', [
      { value: counts.closed },
    ]),
    {
      name: 'istio_agent_xds_control_plane_connected',
      type: 'gauge',
      help: 'Whether the control plane answers',
      samples: [{ value: Number(isAnswering) }],
    },
    {
      name: 'istio_agent_xds_stored_age_seconds',
      type: 'gauge',
      help: 'Age of the stored configuration, if Envoy uses it',
      samples: storedOf === undefined ? [] : [{ value: (now - storedOf) / 1_000 }],
    },
  ];
}
