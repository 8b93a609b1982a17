import type { DiscoveryView } from './discovery-view.ts';
import { leftOut } from './push-status.ts';
import type { LogLine } from '../../shared/log/log-line.ts';
import type { Flaw } from '../istio/model.ts';
import { flawsOf, type Store } from '../environment/store.ts';
import type { DiscoveryEvent } from './discovery-event.ts';
import { shortType } from './fold-view.ts';
import type { Built, Told } from '../environment/snapshots.ts';

/** What there is to log of an event, with what was known before it. Pure. `now`: ms since 1970. */
export function narrateDiscovery(
  before: DiscoveryView,
  event: DiscoveryEvent,
  startedAt: number,
  now: number,
): readonly LogLine[] {
  switch (event.type) {
    case 'told':
      return [
        ...sourceLines(before.store, event),
        ...heldLines(before.store, event),
        ...flawLines(before.store, event.store),
      ];
    case 'built': {
      const { number, environment, changes, changedAt, builtAt } = event.snapshot;
      const services = environment.services.size;
      if (number === 1) {
        const msg = 'the control plane has read all sources, and answers proxies';
        return [
          { level: 'info', event: 'discovery.ready', msg, afterMs: now - startedAt, services },
          ...warningLines(before, event),
        ];
      }
      const changed = [...changes.keys].sort();
      const shown =
        changed.length > most
          ? [...changed.slice(0, most), `${changed.length - most} more`]
          : changed;
      const proxies = before.connections.size;
      return [
        {
          level: 'info',
          event: 'discovery.pushed',
          msg: 'changed resources are given to the proxies',
          changed: shown,
          snapshot: number,
          proxies,
          tookMs: builtAt - changedAt,
        },
        ...warningLines(before, event),
      ];
    }
    case 'connected':
      return [
        {
          level: 'info',
          event: 'discovery.connected',
          msg: 'a proxy has connected',
          nodeId: event.node.id,
          address: event.address,
        },
      ];
    case 'disconnected': {
      const nodeId = before.connections.get(event.connection)?.node.id;
      return nodeId === undefined
        ? []
        : [
            {
              level: 'info',
              event: 'discovery.disconnected',
              msg: 'a proxy has disconnected',
              nodeId,
            },
          ];
    }
    case 'rejected': {
      const nodeId = before.connections.get(event.connection)?.node.id;
      const { typeUrl, names, keys, reason } = event;
      const msg = 'a proxy has rejected resources, and goes on with those before';
      return [
        {
          level: 'error',
          event: 'discovery.rejected',
          msg,
          nodeId,
          type: shortType(typeUrl),
          names,
          madeOf: keys,
          reason,
        },
      ];
    }
    case 'stream-refused':
      return [
        {
          level: 'warn',
          event: 'discovery.stream_refused',
          msg: 'a stream is refused',
          address: event.address,
          reason: event.reason,
        },
      ];
    case 'not-taken': {
      const { server, address, reason } = event;
      const msg = 'a connection could not be taken: the server goes on';
      return [
        {
          level: 'warn',
          event: 'connection.not_taken',
          msg,
          server: `--${server}`,
          address,
          reason,
        },
      ];
    }
    case 'terminate-requested': {
      const msg = 'the control plane sends its proxies elsewhere, and ends then';
      return [
        {
          level: 'info',
          event: 'discovery.draining',
          msg,
          by: event.by,
          proxies: before.connections.size,
        },
      ];
    }
    default:
      return [];
  }
}

/** So many names of resources are in a line. */
const most = 10;

function sourceLines(before: Store | undefined, { event, store }: Told): readonly LogLine[] {
  if (event.type === 'mesh') return [];
  const [was, is] = [
    before?.sources.get(event.source)?.lost,
    store.sources.get(event.source)?.lost,
  ];
  if (was === is) return [];
  const { source } = event;
  if (is === undefined)
    return [
      { level: 'info', event: 'discovery.source_back', msg: 'a source can be read again', source },
    ];
  return [
    {
      level: 'warn',
      event: 'discovery.source_lost',
      msg: 'a source cannot be read: what it has told stays',
      source,
      reason: is,
    },
  ];
}

/** So many lines of one snapshot, or of one reading of the sources. */
const mostLines = 100;

/** What the environment leaves out, as far as that is news. */
function warningLines(
  { snapshot }: DiscoveryView,
  { snapshot: { environment } }: Built,
): readonly LogLine[] {
  const old = new Set(snapshot === undefined ? [] : leftOut(snapshot.environment).map(textOf));
  return linesOf(leftOut(environment).filter((flaw) => !old.has(textOf(flaw))));
}

const textOf = ({ key, origin, field, reason }: Flaw): string =>
  JSON.stringify([key, origin.path, field, reason]);

/** Removals that are held back, which somebody has to know, and their end. */
function heldLines(before: Store | undefined, { event }: Told): readonly LogLine[] {
  if (event.type !== 'held') return [];
  const { source, removes } = event;
  const was = before?.sources.get(source)?.held.length ?? 0;
  if (removes.length === 0)
    return [
      {
        level: 'info',
        event: 'discovery.removals_over',
        msg: 'no removals are held back any longer',
        source,
      },
    ];
  const shown = [...removes].sort().slice(0, most);
  const resources = removes.length > most ? [...shown, `${removes.length - most} more`] : shown;
  const msg =
    'a source has lost much at once: the removals are held back, until they are confirmed or their time has come';
  return removes.length <= was
    ? []
    : [
        {
          level: 'error',
          event: 'discovery.removals_held',
          msg,
          source,
          removals: removes.length,
          resources,
        },
      ];
}

function flawLines(before: Store | undefined, after: Store): readonly LogLine[] {
  if (before?.sources === after.sources) return [];
  const [old, now] = [before === undefined ? [] : flawsOf(before), flawsOf(after)];
  const isError = ({ severity }: Flaw) => severity === 'error';
  const known = new Set(old.map(textOf));
  const news = now.filter((flaw) => !known.has(textOf(flaw)));
  const there = new Set(now.filter(isError).map(nameOf));
  const mended = [...new Set(old.filter(isError).map(nameOf))].filter((name) => !there.has(name));
  return [
    ...linesOf([...news.filter(isError), ...news.filter(({ severity }) => severity === 'warning')]),
    ...passedOverLines(news.filter(({ severity }) => severity === 'info')),
    ...mended.map((resource): LogLine => ({
      level: 'info',
      event: 'discovery.mended',
      msg: 'a resource that was refused is right again',
      resource,
    })),
  ];
}

const nameOf = ({ key, origin }: Flaw): string => key ?? origin.path;

/** What is somebody else's, in one line: a folder may have thousands of manifests. */
function passedOverLines(flaws: readonly Flaw[]): readonly LogLine[] {
  if (flaws.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { reason } of flaws) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts]
    .sort(([, one], [, other]) => other - one)
    .map(([reason, count]) => `${count}× ${reason}`);
  const reasons =
    sorted.length > most
      ? [...sorted.slice(0, most), `${sorted.length - most} other kinds`]
      : sorted;
  const msg = 'documents that are no rules of Istio are passed over';
  return [{ level: 'info', event: 'discovery.passed_over', msg, documents: flaws.length, reasons }];
}

function linesOf(flaws: readonly Flaw[]): readonly LogLine[] {
  const shown = flaws.slice(0, mostLines).map(lineOf);
  const next = flaws[mostLines];
  if (next === undefined) return shown;
  const { level, event, msg } = lineOf(next);
  return [
    ...shown,
    { level, event, msg, reason: `${flaws.length - mostLines} more: /debug/flawz has all` },
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
    ? {
        level: 'error',
        event: 'discovery.refused',
        msg: 'a resource is refused: its last good version stays, if it has one',
        ...place,
      }
    : {
        level: 'warn',
        event: 'discovery.unserved',
        msg: 'a part of a resource is not served',
        ...place,
      };
}
