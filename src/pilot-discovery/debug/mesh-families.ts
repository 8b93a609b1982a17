import type { MetricFamily } from '../../shared/metrics/metric-family.ts';
import { counterBy, gaugeOf } from '../../shared/metrics/gauge-of.ts';
import { duplicateHosts } from '../environment/duplicate-hosts.ts';
import { heldRemovalCount } from '../environment/store.ts';
import { flawsOf } from '../environment/store-flaws.ts';
import type { DiscoveryView } from '../state/discovery-view.ts';
import { withoutEndpoints } from '../state/push-status.ts';
import { registryConflicts } from '../state/registry-conflicts.ts';

/** Returns the metrics of services and rules. Pure. */
export function meshFamilies({ snapshot }: DiscoveryView): readonly MetricFamily[] {
  const environment = snapshot?.environment;
  return [
    gaugeOf(
      'pilot_services',
      'Services that proxies may receive.',
      environment?.services.size ?? 0,
    ),
    gaugeOf(
      'pilot_eds_no_instances',
      'Ports without an endpoint, of services whose endpoints come by EDS.',
      environment === undefined ? 0 : withoutEndpoints(environment).length,
    ),
    gaugeOf(
      'pilot_vservice_dup_domain',
      'Hosts with two VirtualServices; the older one is used.',
      environment === undefined ? 0 : [...duplicateHosts(environment.virtualServices)].length,
    ),
    gaugeOf(
      'pilot_conflict_registries',
      'Services in conflict with another registry that has their host.',
      environment === undefined ? 0 : registryConflicts(environment).length,
    ),
    gaugeOf(
      'pilot_virt_services',
      'VirtualServices that are in use.',
      environment?.virtualServices.length ?? 0,
    ),
  ];
}

/** Returns the metrics of the sources and of their flaws. Pure. */
export function storeFamilies({ store, counts }: DiscoveryView): readonly MetricFamily[] {
  const refused =
    store === undefined ? [] : flawsOf(store).filter(({ severity }) => severity === 'error');
  return [
    counterBy(
      'type',
      'pilot_inbound_updates',
      'Changes of sources, by class of change.',
      counts.updates,
    ),
    counterBy('type', 'pilot_push_triggers', 'Snapshots, by class of change.', counts.triggers),
    gaugeOf(
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
    gaugeOf(
      'pilot_held_removals',
      'Removals that are held back until they are confirmed, due or undone.',
      store === undefined ? 0 : heldRemovalCount(store),
    ),
  ];
}
