import { histogram, type MetricFamily } from '../../shared/metrics/metric-family.ts';
import { counterBy, counterOf, gaugeOf } from '../../shared/metrics/gauge-of.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import type { Histogram } from '../../operators/histogram.ts';
import type { DiscoveryView } from '../state/discovery-view.ts';

/**
 * Returns the metrics of the resources that proxies are sent, and of their ACKs and NACKs. Pure.
 */
export function pushFamilies({
  connections,
  counts,
}: Pick<DiscoveryView, 'connections' | 'counts'>): readonly MetricFamily[] {
  return [
    {
      name: 'pilot_xds',
      type: 'gauge',
      help: 'Connected proxies, by version.',
      samples: [...versionsOf(connections)].map(([version, value]) => ({
        labels: { version },
        value,
      })),
    },
    counterBy('type', 'pilot_xds_pushes', 'Answers sent to proxies, by type.', counts.pushes),
    ...['cds', 'eds', 'lds', 'rds'].map((type) =>
      gaugeOf(
        `pilot_xds_${type}_reject`,
        `${type.toUpperCase()} answers that proxies NACKed.`,
        ownMember(counts.rejects, type) ?? 0,
      ),
    ),
    counterOf(
      'pilot_total_xds_rejects',
      'Answers that proxies NACKed.',
      Object.values(counts.rejects).reduce((total, number) => total + number, 0),
    ),
    {
      name: 'pilot_xds_config_size_bytes',
      type: 'histogram',
      help: 'Size of an answer in bytes, by type.',
      samples: Object.entries(counts.sizes).flatMap(
        ([type, sizes]) => histogram('', '', sizes, { type }).samples,
      ),
    },
    counterOf(
      'pilot_sds_certificate_errors_total',
      'Secrets that cannot be served, and refusals of secrets.',
      counts.secretFailures,
    ),
    counterOf('pilot_xds_bytes', 'Bytes of all answers together.', counts.bytes),
    counterOf(
      'pilot_xds_unread_streams',
      'Streams that were ended because the proxy did not read.',
      counts.unreadStreams,
    ),
    counterBy(
      'status',
      'pilot_refused_callers',
      'Calls and handshakes on the secure port whose caller is not known, by status.',
      counts.refusedCallers,
    ),
  ];
}

/** Returns the metrics of the time from a change to its ACK, in seconds, by stage. Pure. */
export function timeFamilies({ times: stages }: DiscoveryView['counts']): readonly MetricFamily[] {
  const seconds = (name: string, help: string, times: Histogram): MetricFamily => ({
    ...histogram('', help, times),
    name,
  });
  return [
    seconds('pilot_pushcontext_init_seconds', 'Seconds to build a snapshot.', stages.building),
    seconds('pilot_debounce_time', 'Seconds from a change to the snapshot with it.', stages.built),
    seconds(
      'pilot_proxy_convergence_time',
      'Seconds from a change to the answers with it.',
      stages.answered,
    ),
    seconds(
      'pilot_change_to_acked_seconds',
      'Seconds from a change to the ACK of a proxy.',
      stages.accepted,
    ),
    seconds(
      'pilot_proxy_queue_time',
      'Seconds that an answer waits before it is written.',
      stages.queued,
    ),
    seconds('pilot_xds_send_time', 'Seconds to write an answer.', stages.written),
  ];
}

/** The largest number of versions, and of characters in one: clients choose both. */
const most = { versions: 100, characters: 64 };

/**
 * Returns the number of connections by the version of Istio that their node names; `other` for
 * those above a limit.
 */
function versionsOf(connections: DiscoveryView['connections']): ReadonlyMap<string, number> {
  const versions = new Map<string, number>();
  for (const [, { node }] of connections) {
    const metadata = node.metadata as Readonly<Record<string, unknown>> | undefined;
    const version = metadata?.['ISTIO_VERSION'];
    const named = typeof version === 'string' && version !== '' ? version : 'unknown';
    const isCounted =
      versions.has(named) || (versions.size < most.versions && named.length <= most.characters);
    const name = isCounted ? named : 'other';
    versions.set(name, (versions.get(name) ?? 0) + 1);
  }
  return versions;
}
