import {
  type DiscoveryCounts,
  type DiscoveryView,
  noCounts,
  sizeLimits,
} from './discovery-view.ts';
import { withRefusal } from './caller-refusals.ts';
import { traceOfAnswer, traceOfBuilt } from './push-trace.ts';
import { counted as withValue, emptyHistogram, observed } from '../../operators/histogram.ts';
import { foldCa } from '../ca/ca-view.ts';
import type { AdsEvent } from '../push/ads-event.ts';
import { ConnectionMap } from '../push/connection-map.ts';
import { foldConnections } from '../push/connection-states.ts';
import { typeUrls } from '../push/view.ts';
import type { DiscoveryEvent } from './discovery-event.ts';
import type { Snapshot } from '../environment/snapshots.ts';
import { secretTypeUrl } from '../../shared/xds/secret-names.ts';
import { ownMember } from '../../shared/text/own-member.ts';

export const initialView: DiscoveryView = {
  isEnding: false,
  store: undefined,
  snapshot: undefined,
  connections: ConnectionMap.empty(),
  traces: [],
  refusals: new Map(),
  ca: undefined,
  statusLease: 'none',
  counts: noCounts,
};

/** Returns the view after an event. Pure. `now`: ms since 1970. */
export function foldView(view: DiscoveryView, event: DiscoveryEvent, now: number): DiscoveryView {
  switch (event.type) {
    case 'source-event':
      return {
        ...view,
        store: event.store,
        counts:
          event.changes.class === 'none'
            ? view.counts
            : counted(view.counts, 'updates', event.changes.class),
      };
    case 'built':
      return {
        ...view,
        snapshot: event.snapshot,
        traces: traceOfBuilt(view.traces, event.snapshot),
        counts: countsOfBuilt(view.counts, event.snapshot),
      };
    case 'status-writer-elected':
      return { ...view, statusLease: 'held' };
    case 'status-writer-resigned':
      return { ...view, statusLease: 'none' };
    case 'terminate-requested':
      return { ...view, isEnding: true };
    case 'authority-read':
    case 'roots-published':
    case 'roots-unpublished':
    case 'roots-contested':
    case 'crl-maps':
    case 'crl-read':
    case 'certificate-issued':
    case 'certificate-refused':
      return { ...view, ca: view.ca && foldCa(view.ca, event) };
    case 'caller-refused':
      return afterRefusal(view, event, now);
    case 'secrets-refused':
      return {
        ...view,
        refusals: withRefusal(view.refusals, event.address, now),
        counts: secretFailed(view.counts),
      };
    case 'credential-refused':
    case 'credentials-denied':
      return { ...view, counts: secretFailed(view.counts) };
    case 'credential-read':
    case 'credential-gone':
    case 'credentials-allowed':
    case 'statuses-refused':
    case 'status-contested':
    case 'serving':
    case 'unserved':
    case 'listening':
    case 'failed':
    case 'not-taken':
    case 'reopen-requested':
    case 'over':
      return view;
    default: {
      const connections = foldConnections(view.connections, event, now);
      const traces =
        event.type === 'answered' || event.type === 'accepted'
          ? traceOfAnswer(view.traces, event, now)
          : view.traces;
      return { ...view, connections, traces, counts: countsAfter(timed(view, event, now), event) };
    }
  }
}

function afterRefusal(
  view: DiscoveryView,
  event: Extract<DiscoveryEvent, { readonly type: 'caller-refused' }>,
  now: number,
): DiscoveryView {
  const counts = counted(view.counts, 'refusedCallers', event.status);
  return { ...view, counts, refusals: withRefusal(view.refusals, event.address, now) };
}

const secretFailed = (counts: DiscoveryCounts): DiscoveryCounts => ({
  ...counts,
  secretFailures: counts.secretFailures + 1,
});

/** The first snapshot does not count as a change. */
function countsOfBuilt(
  counts: DiscoveryCounts,
  { number, changes, changedAt, dueAt, builtAt }: Snapshot,
): DiscoveryCounts {
  const building = observed(counts.times.building, builtAt - dueAt);
  if (number === 1) return { ...counts, times: { ...counts.times, building } };
  const times = {
    ...counts.times,
    building,
    built: observed(counts.times.built, builtAt - changedAt),
  };
  return { ...counted(counts, 'triggers', changes.class), times };
}

/** Returns the counts with the time from the change to this event. */
function timed({ counts, snapshot }: DiscoveryView, event: AdsEvent, now: number): DiscoveryCounts {
  if (event.type !== 'answered' && event.type !== 'accepted') return counts;
  if (snapshot === undefined || snapshot.number === 1 || event.snapshot !== snapshot.number)
    return counts;
  return {
    ...counts,
    times: {
      ...counts.times,
      [event.type]: observed(counts.times[event.type], now - snapshot.changedAt),
    },
  };
}

function countsAfter(
  counts: DiscoveryCounts,
  event: Exclude<DiscoveryEvent, { readonly type: 'source-event' | 'built' }>,
): DiscoveryCounts {
  if (event.type === 'answered') return counted(counts, 'pushes', shortType(event.typeUrl));
  if (event.type === 'written') {
    const { queued, written } = counts.times;
    const type = shortType(event.typeUrl);
    const sizes = ownMember(counts.sizes, type) ?? emptyHistogram(sizeLimits);
    return {
      ...counts,
      bytes: counts.bytes + event.bytes,
      sizes: { ...counts.sizes, [type]: withValue(sizes, event.bytes) },
      times: {
        ...counts.times,
        queued: observed(queued, event.queuedMs),
        written: observed(written, event.writingMs),
      },
    };
  }
  if (event.type === 'rejected') return counted(counts, 'rejects', shortType(event.typeUrl));
  if (event.type === 'stream-refused')
    return { ...counts, refusedStreams: counts.refusedStreams + 1 };
  if (event.type === 'reads-nothing') return { ...counts, unreadStreams: counts.unreadStreams + 1 };
  return counts;
}

function counted(
  counts: DiscoveryCounts,
  counter: 'pushes' | 'refusedCallers' | 'rejects' | 'updates' | 'triggers',
  name: string,
): DiscoveryCounts {
  return {
    ...counts,
    [counter]: { ...counts[counter], [name]: (ownMember(counts[counter], name) ?? 0) + 1 },
  };
}

const short = new Map([
  [typeUrls.cluster, 'cds'],
  [typeUrls.endpoint, 'eds'],
  [typeUrls.listener, 'lds'],
  [typeUrls.route, 'rds'],
  [secretTypeUrl, 'sds'],
]);

/** Returns the short name of a type, such as `cds`; `other` if the type is not served. Pure. */
export function shortType(typeUrl: string): string {
  return short.get(typeUrl) ?? 'other';
}
