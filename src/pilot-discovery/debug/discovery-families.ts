import { histogram, type MetricFamily } from '../../shared/metrics/metric-family.ts';
import type { Histogram } from '../../operators/histogram.ts';
import { caFamilies } from '../ca/ca-families.ts';
import { duplicateHosts } from '../environment/duplicate-hosts.ts';
import { flawsOf, heldRemovals } from '../environment/store.ts';
import type { DiscoveryView } from '../state/discovery-view.ts';
import { withoutEndpoints } from '../state/push-status.ts';
import { registryConflicts } from '../state/registry-conflicts.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/** Returns the metrics of the control plane, with the names of istiod. Pure. */
export function discoveryFamilies(
  { store, snapshot, connections, counts, ca }: DiscoveryView,
  version: string,
): readonly MetricFamily[] {
  const environment = snapshot?.environment;
  const refused =
    store === undefined ? [] : flawsOf(store).filter(({ severity }) => severity === 'error');
  const versions = new Map<string, number>();
  for (const [, { node }] of connections) {
    const istioVersion = (node.metadata as Readonly<Record<string, unknown>> | undefined)?.[
      'ISTIO_VERSION'
    ];
    const name = typeof istioVersion === 'string' && istioVersion !== '' ? istioVersion : 'unknown';
    versions.set(name, (versions.get(name) ?? 0) + 1);
  }
  const sum = (numbers: Readonly<Record<string, number>>) =>
    Object.values(numbers).reduce((total, number) => total + number, 0);
  const gauge = (name: string, help: string, value: number): MetricFamily => ({
    name,
    type: 'gauge',
    help,
    samples: [{ value }],
  });
  const by = (
    label: string,
    name: string,
    help: string,
    values: Readonly<Record<string, number>>,
  ): MetricFamily => ({
    name,
    type: 'counter',
    help,
    samples: Object.entries(values).map(([text, value]) => ({ labels: { [label]: text }, value })),
  });
  const byType = (name: string, help: string, values: Readonly<Record<string, number>>) =>
    by('type', name, help, values);
  const seconds = (name: string, help: string, times: Histogram): MetricFamily => ({
    ...histogram('', help, times),
    name,
  });
  return [
    {
      name: 'pilot_info',
      type: 'gauge',
      help: 'Version of the control plane.',
      samples: [{ labels: { version }, value: 1 }],
    },
    {
      name: 'pilot_xds',
      type: 'gauge',
      help: 'Connected proxies, by version.',
      samples: [...versions].map(([name, value]) => ({ labels: { version: name }, value })),
    },
    byType('pilot_xds_pushes', 'Answers sent to proxies, by type.', counts.pushes),
    ...['cds', 'eds', 'lds', 'rds'].map((type) =>
      gauge(
        `pilot_xds_${type}_reject`,
        `${type.toUpperCase()} answers that proxies NACKed.`,
        ownMember(counts.rejects, type) ?? 0,
      ),
    ),
    {
      name: 'pilot_total_xds_rejects',
      type: 'counter',
      help: 'Answers that proxies NACKed.',
      samples: [{ value: sum(counts.rejects) }],
    },
    byType('pilot_push_triggers', 'Snapshots, by class of change.', counts.triggers),
    seconds(
      'pilot_pushcontext_init_seconds',
      'Seconds to build a snapshot.',
      counts.times.building,
    ),
    seconds(
      'pilot_debounce_time',
      'Seconds from a change to the snapshot with it.',
      counts.times.built,
    ),
    seconds(
      'pilot_proxy_convergence_time',
      'Seconds from a change to the answers with it.',
      counts.times.answered,
    ),
    seconds(
      'pilot_change_to_acked_seconds',
      'Seconds from a change to the ACK of a proxy.',
      counts.times.accepted,
    ),
    seconds(
      'pilot_proxy_queue_time',
      'Seconds that an answer waits before it is written.',
      counts.times.queued,
    ),
    seconds('pilot_xds_send_time', 'Seconds to write an answer.', counts.times.written),
    {
      name: 'pilot_xds_config_size_bytes',
      type: 'histogram',
      help: 'Size of an answer in bytes, by type.',
      samples: Object.entries(counts.sizes).flatMap(
        ([type, sizes]) => histogram('', '', sizes, { type }).samples,
      ),
    },
    byType('pilot_inbound_updates', 'Changes of sources, by class of change.', counts.updates),
    gauge('pilot_services', 'Services that proxies may receive.', environment?.services.size ?? 0),
    gauge(
      'pilot_eds_no_instances',
      'Services without an endpoint, although the control plane lists their endpoints.',
      environment === undefined ? 0 : withoutEndpoints(environment).length,
    ),
    gauge(
      'pilot_vservice_dup_domain',
      'Hosts with two VirtualServices; the older one is used.',
      environment === undefined ? 0 : [...duplicateHosts(environment.virtualServices)].length,
    ),
    gauge(
      'pilot_conflict_registries',
      'Services in conflict with another registry that has their host.',
      environment === undefined ? 0 : registryConflicts(environment).length,
    ),
    gauge(
      'pilot_virt_services',
      'VirtualServices that are in use.',
      environment?.virtualServices.length ?? 0,
    ),
    gauge(
      'pilot_invalid_resources',
      'Resources that are refused.',
      new Set(refused.map(({ key, origin }) => key ?? origin.path)).size,
    ),
    {
      name: 'pilot_source_up',
      type: 'gauge',
      help: '1 if a source can be read; 0 if it cannot, and its last content stays in use.',
      samples: [...(store?.sources ?? [])].map(([source, { isSynced, lost }]) => ({
        labels: { source },
        value: isSynced && lost === undefined ? 1 : 0,
      })),
    },
    gauge(
      'pilot_held_removals',
      'Removed resources that are held back until they are confirmed.',
      store === undefined ? 0 : heldRemovals(store),
    ),
    {
      name: 'pilot_xds_unread_streams',
      type: 'counter',
      help: 'Streams that were ended because the proxy did not read.',
      samples: [{ value: counts.unreadStreams }],
    },
    by(
      'status',
      'pilot_refused_callers',
      'Calls and handshakes on the secure port whose caller is not known, by status.',
      counts.refusedCallers,
    ),
    {
      name: 'pilot_xds_bytes',
      type: 'counter',
      help: 'Bytes of all answers together.',
      samples: [{ value: counts.bytes }],
    },
    ...(ca === undefined ? [] : caFamilies(ca)),
  ];
}
