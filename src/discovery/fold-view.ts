import { type DiscoveryCounts, type DiscoveryView, noCounts } from '../debug/discovery-view.ts';
import { observed } from '../operators/histogram.ts';
import type { AdsEvent } from '../push/ads-event.ts';
import { ConnectionMap } from '../push/connection-map.ts';
import { foldConnections } from '../push/connection-states.ts';
import { typeUrls } from '../push/view.ts';
import type { DiscoveryEvent } from './discovery-event.ts';
import type { Snapshot } from './snapshots.ts';

export const freshView: DiscoveryView = { store: undefined, snapshot: undefined, connections: ConnectionMap.empty(), counts: noCounts };

/** What is known after an event. Pure. `now`: ms since 1970. */
export function foldView(view: DiscoveryView, event: DiscoveryEvent, now: number): DiscoveryView {
  switch (event.type) {
    case 'told':
      return {
        ...view,
        store: event.store,
        counts: event.changes.class === 'none' ? view.counts : counted(view.counts, 'updates', event.changes.class),
      };
    case 'built':
      return { ...view, snapshot: event.snapshot, counts: countsOfBuilt(view.counts, event.snapshot) };
    case 'listening':
    case 'failed':
    case 'terminate-requested':
    case 'over':
      return view;
    default: {
      const connections = foldConnections(view.connections, event, now);
      return { ...view, connections, counts: countsAfter(timed(view, event, now), event) };
    }
  }
}

/** The first snapshot is no change. */
function countsOfBuilt(counts: DiscoveryCounts, { number, changes, changedAt, builtAt }: Snapshot): DiscoveryCounts {
  if (number === 1) return counts;
  const times = { ...counts.times, built: observed(counts.times.built, builtAt - changedAt) };
  return { ...counted(counts, 'triggers', changes.class), times };
}

/** The counts with how long a change has taken until here. */
function timed({ counts, snapshot }: DiscoveryView, event: AdsEvent, now: number): DiscoveryCounts {
  if (event.type !== 'answered' && event.type !== 'accepted') return counts;
  if (snapshot === undefined || snapshot.number === 1 || event.snapshot !== snapshot.number) return counts;
  return { ...counts, times: { ...counts.times, [event.type]: observed(counts.times[event.type], now - snapshot.changedAt) } };
}

function countsAfter(counts: DiscoveryCounts, event: Exclude<DiscoveryEvent, { readonly type: 'told' | 'built' }>): DiscoveryCounts {
  if (event.type === 'answered') return { ...counted(counts, 'pushes', shortType(event.typeUrl)), bytes: counts.bytes + event.bytes };
  if (event.type === 'rejected') return counted(counts, 'rejects', shortType(event.typeUrl));
  if (event.type === 'stream-refused') return { ...counts, refusedStreams: counts.refusedStreams + 1 };
  return counts;
}

function counted(counts: DiscoveryCounts, what: 'pushes' | 'rejects' | 'updates' | 'triggers', name: string): DiscoveryCounts {
  return { ...counts, [what]: { ...counts[what], [name]: (counts[what][name] ?? 0) + 1 } };
}

const short = new Map([
  [typeUrls.cluster, 'cds'],
  [typeUrls.endpoint, 'eds'],
  [typeUrls.listener, 'lds'],
  [typeUrls.route, 'rds'],
]);

/** `cds` for the type of clusters, and so on; the type itself for another one. Pure. */
export function shortType(typeUrl: string): string {
  return short.get(typeUrl) ?? typeUrl;
}
