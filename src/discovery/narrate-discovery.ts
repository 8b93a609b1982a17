import type { DiscoveryView } from '../debug/discovery-view.ts';
import type { LogLine } from '../log/log-line.ts';
import type { Flaw } from '../mesh/model.ts';
import { flawsOf, type Store } from '../store/store.ts';
import type { DiscoveryEvent } from './discovery-event.ts';
import { shortType } from './fold-view.ts';
import type { Told } from './snapshots.ts';

/** What there is to log of an event, with what was known before it. Pure. `now`: ms since 1970. */
export function narrateDiscovery(before: DiscoveryView, event: DiscoveryEvent, startedAt: number, now: number): readonly LogLine[] {
  switch (event.type) {
    case 'told':
      return [...sourceLines(before.store, event), ...flawLines(before.store, event.store)];
    case 'built': {
      const { number, environment, changes, changedAt, builtAt } = event.snapshot;
      const services = environment.services.size;
      if (number === 1) {
        const msg = 'the control plane has read all sources, and answers proxies';
        return [{ level: 'info', event: 'discovery.ready', msg, afterMs: now - startedAt, services }];
      }
      const changed = [...changes.keys].sort();
      const shown = changed.length > most ? [...changed.slice(0, most), `${changed.length - most} more`] : changed;
      const proxies = before.connections.size;
      return [{ level: 'info', event: 'discovery.pushed', msg: 'changed resources are given to the proxies', changed: shown, snapshot: number, proxies, tookMs: builtAt - changedAt }]; // prettier-ignore
    }
    case 'connected':
      return [{ level: 'info', event: 'discovery.connected', msg: 'a proxy has connected', nodeId: event.node.id, address: event.address }];
    case 'disconnected': {
      const nodeId = before.connections.get(event.connection)?.node.id;
      return nodeId === undefined ? [] : [{ level: 'info', event: 'discovery.disconnected', msg: 'a proxy has disconnected', nodeId }];
    }
    case 'rejected': {
      const nodeId = before.connections.get(event.connection)?.node.id;
      const { typeUrl, names, keys, reason } = event;
      const msg = 'a proxy has rejected resources, and goes on with those before';
      return [{ level: 'error', event: 'discovery.rejected', msg, nodeId, type: shortType(typeUrl), names, madeOf: keys, reason }];
    }
    case 'stream-refused':
      return [
        { level: 'warn', event: 'discovery.stream_refused', msg: 'a stream is refused', address: event.address, reason: event.reason },
      ];
    case 'terminate-requested': {
      const msg = 'the control plane sends its proxies elsewhere, and ends then';
      return [{ level: 'info', event: 'discovery.draining', msg, by: event.by, proxies: before.connections.size }];
    }
    default:
      return [];
  }
}

/** So many names of resources are in a line. */
const most = 10;

function sourceLines(before: Store | undefined, { event, store }: Told): readonly LogLine[] {
  if (event.type === 'mesh') return [];
  const [was, is] = [before?.sources.get(event.source)?.lost, store.sources.get(event.source)?.lost];
  if (was === is) return [];
  const { source } = event;
  if (is === undefined) return [{ level: 'info', event: 'discovery.source_back', msg: 'a source can be read again', source }];
  return [{ level: 'warn', event: 'discovery.source_lost', msg: 'a source cannot be read: what it has told stays', source, reason: is }];
}

function flawLines(before: Store | undefined, after: Store): readonly LogLine[] {
  if (before?.sources === after.sources) return [];
  const [old, now] = [before === undefined ? [] : flawsOf(before), flawsOf(after)];
  const textOf = ({ key, origin, field, reason }: Flaw) => JSON.stringify([key, origin.path, field, reason]);
  const [known, there] = [new Set(old.map(textOf)), new Set(now.map((flaw) => flaw.key ?? flaw.origin.path))];
  const fresh = now.filter((flaw) => !known.has(textOf(flaw))).map(lineOf);
  const gone = new Set(old.filter(({ severity }) => severity === 'error').map((flaw) => flaw.key ?? flaw.origin.path));
  const mended = [...gone].filter((name) => !there.has(name));
  return [
    ...fresh,
    ...mended.map((resource): LogLine => ({ level: 'info', event: 'discovery.mended', msg: 'a resource that was refused is right again', resource })), // prettier-ignore
  ];
}

function lineOf({ key, origin, field, reason, severity }: Flaw): LogLine {
  const place = {
    ...(key !== undefined && { resource: key }),
    path: `${origin.path}:${origin.line}`,
    ...(field !== '' && { field }),
    reason,
  };
  return severity === 'error'
    ? { level: 'error', event: 'discovery.refused', msg: 'a resource is refused: its last good version stays', ...place }
    : { level: 'warn', event: 'discovery.unserved', msg: 'a part of a resource is not served', ...place };
}
