import { isConfigClient } from '../push/config-view.ts';
import type { DiscoveryView } from './discovery-view.ts';
import { unloggedCount } from './caller-refusals.ts';
import { initialCa } from '../ca/ca-view.ts';
import { narrateStatus } from '../status/narrate-status.ts';
import { narrateCa } from '../ca/narrate-ca.ts';
import { narrateCredentials } from '../credentials/narrate-credentials.ts';
import { leftOut } from './push-status.ts';
import { line, type LogLine } from '../../shared/log/log-line.ts';
import type { Flaw } from '../istio/documents/model.ts';
import { placeOf } from '../istio/documents/place-of.ts';
import type { Store } from '../environment/store.ts';
import { flawsOf, touchedFlaws, type TouchedFlaws } from '../environment/store-flaws.ts';
import type { DiscoveryEvent } from './discovery-event.ts';
import { shortType } from './fold-view.ts';
import type { Built, StoreStep } from '../environment/snapshots.ts';

/**
 * Returns the lines of the log for an event, given the view before it. Pure. `now`: ms since 1970.
 */
export function narrateDiscovery(
  before: DiscoveryView,
  event: DiscoveryEvent,
  startedAt: number,
  now: number,
): readonly LogLine[] {
  switch (event.type) {
    case 'source-event':
      return [
        ...sourceLines(before.store, event),
        ...heldLines(before.store, event),
        ...flawLines(before.store, event),
      ];
    case 'built':
      return [
        event.snapshot.number === 1
          ? line('discovery.ready', {
              afterMs: now - startedAt,
              services: event.snapshot.environment.services.size,
            })
          : pushedLine(before, event),
        ...warningLines(before, event),
      ];
    case 'connected':
    case 'disconnected':
    case 'rejected':
      return connectionLines(before, event);
    case 'secrets-refused':
    case 'caller-refused':
      return refusalLines(before, event, now);
    case 'credential-read':
    case 'credential-refused':
    case 'credential-gone':
    case 'credentials-allowed':
    case 'credentials-denied':
      return narrateCredentials(event);
    case 'status-writer-elected':
    case 'status-writer-resigned':
    case 'statuses-refused':
    case 'status-contested':
      return [narrateStatus(event)];
    case 'authority-read':
    case 'roots-published':
    case 'roots-unpublished':
    case 'roots-contested':
    case 'crl-maps':
    case 'crl-read':
    case 'certificate-issued':
    case 'certificate-refused':
      return narrateCa(before.ca ?? initialCa, event);
    case 'serving':
    case 'unserved':
    case 'stream-refused':
    case 'reads-nothing':
    case 'not-taken':
      return [serverLine(event)];
    case 'reopen-requested':
      return [line('log.reopened')];
    case 'terminate-requested':
      return [line('discovery.draining', { by: event.by, proxies: before.connections.size })];
    default:
      return [];
  }
}

/** Returns the lines about a connection that a proxy opens, uses, or closes. */
function connectionLines(
  { connections }: DiscoveryView,
  event: Extract<DiscoveryEvent, { type: 'connected' | 'disconnected' | 'rejected' }>,
): readonly LogLine[] {
  if (event.type === 'connected')
    return [
      line('discovery.connected', {
        ...{ nodeId: event.node.id, address: event.address },
        ...(isConfigClient(event.node) && { reads: 'the resources of Istio' }),
      }),
    ];
  const nodeId = connections.get(event.connection)?.node.id;
  if (event.type === 'disconnected')
    return nodeId === undefined ? [] : [line('discovery.disconnected', { nodeId })];
  const { typeUrl, names, keys, reason } = event;
  const type = shortType(typeUrl);
  return [line('discovery.rejected', { nodeId, type, names, madeOf: keys, reason })];
}

/** The largest number of resource names in a line. */
const most = 10;

function pushedLine({ connections }: DiscoveryView, { snapshot }: Built): LogLine {
  const { number, changes, changedAt, builtAt } = snapshot;
  const changed = [...changes.keys].sort();
  const shown =
    changed.length > most ? [...changed.slice(0, most), `${changed.length - most} more`] : changed;
  return line('discovery.pushed', {
    changed: shown,
    snapshot: number,
    proxies: connections.size,
    tookMs: builtAt - changedAt,
  });
}

/**
 * Returns no line if the log lately had one about this address; the refusal is then only counted.
 */
function refusalLines(
  { refusals }: DiscoveryView,
  event: Extract<DiscoveryEvent, { type: 'caller-refused' | 'secrets-refused' }>,
  now: number,
): readonly LogLine[] {
  const { address, reason } = event;
  const count = unloggedCount(refusals, address, now);
  if (count === undefined) return [];
  const more = count > 0 && { more: count };
  return event.type === 'caller-refused'
    ? [line('discovery.caller_refused', { address, status: event.status, reason, ...more })]
    : [line('discovery.secrets_refused', { address, reason, ...more })];
}

type ServerEvent = Extract<
  DiscoveryEvent,
  { type: 'serving' | 'unserved' | 'stream-refused' | 'reads-nothing' | 'not-taken' }
>;

/** Returns the line about a server that listens, or about a connection to it. */
function serverLine(event: ServerEvent): LogLine {
  switch (event.type) {
    case 'serving': {
      const notAfter = new Date(event.expires).toISOString();
      return line('discovery.serving', { serial: event.serial, notAfter });
    }
    case 'unserved':
      return line('discovery.unserved_tls', { reason: event.reason });
    case 'stream-refused':
      return line('discovery.stream_refused', { address: event.address, reason: event.reason });
    case 'reads-nothing':
      return line('discovery.reads_nothing', { address: event.address, reason: event.reason });
    case 'not-taken': {
      const { server, address, reason } = event;
      return line('connection.not_taken', { server: `--${server}`, address, reason });
    }
  }
}

function sourceLines(before: Store | undefined, { event, store }: StoreStep): readonly LogLine[] {
  if (event.type === 'mesh' || event.type === 'still-lost') return [];
  const [was, is] = [
    before?.sources.get(event.source)?.lost,
    store.sources.get(event.source)?.lost,
  ];
  if (was === is) return [];
  const { source } = event;
  if (is === undefined) return [line('discovery.source_back', { source })];
  return [line('discovery.source_lost', { source, reason: is })];
}

/** The largest number of lines for one snapshot, or for one reading of the sources. */
const mostLines = 100;

/** Returns lines for settings that the environment leaves out and did not leave out before. */
function warningLines(
  { snapshot }: DiscoveryView,
  { snapshot: { environment } }: Built,
): readonly LogLine[] {
  const old = new Set(snapshot === undefined ? [] : leftOut(snapshot.environment).map(textOf));
  return linesOf(leftOut(environment).filter((flaw) => !old.has(textOf(flaw))));
}

const textOf = ({ key, origin, field, reason }: Flaw): string =>
  JSON.stringify([key, origin.path, field, reason]);

/** Returns a line if removals are held back, for an operator to decide, or when that is over. */
function heldLines(before: Store | undefined, { event }: StoreStep): readonly LogLine[] {
  if (event.type !== 'held') return [];
  const { source, removes } = event;
  const was = before?.sources.get(source)?.heldKeys.length ?? 0;
  if (removes.length === 0) return [line('discovery.removals_over', { source })];
  const shown = [...removes].sort().slice(0, most);
  const resources = removes.length > most ? [...shown, `${removes.length - most} more`] : shown;
  return removes.length <= was
    ? []
    : [line('discovery.removals_held', { source, removals: removes.length, resources })];
}

function flawLines(before: Store | undefined, { event, store }: StoreStep): readonly LogLine[] {
  const touched =
    before === undefined
      ? { before: [], after: flawsOf(store) }
      : touchedFlaws(before, store, event);
  const oldTexts = new Set(touched.before.map(textOf));
  const news = touched.after.filter((flaw) => !oldTexts.has(textOf(flaw)));
  return [
    ...linesOf([...news.filter(isError), ...news.filter(({ severity }) => severity === 'warning')]),
    ...passedOverLines(news.filter(({ severity }) => severity === 'info')),
    ...mendedNames(touched, store).map((resource) => line('discovery.mended', { resource })),
  ];
}

const isError = ({ severity }: Flaw): boolean => severity === 'error';

/** Returns the names of resources and files that had errors, and have none now. */
function mendedNames({ before, after }: TouchedFlaws, store: Store): readonly string[] {
  const faulty = new Set(after.filter(isError).map(nameOf));
  const names = new Set(before.filter(isError).map(nameOf));
  for (const name of faulty) names.delete(name);
  if (names.size === 0) return [];
  for (const name of flawsOf(store).filter(isError).map(nameOf)) names.delete(name);
  return [...names];
}

const nameOf = ({ key, origin }: Flaw): string => key ?? origin.path;

/**
 * Returns one line for all documents of other programs: a folder may have thousands of manifests.
 */
function passedOverLines(flaws: readonly Flaw[]): readonly LogLine[] {
  if (flaws.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { reason } of flaws) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const sorted = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([reason, count]) => `${count}× ${reason}`);
  const reasons =
    sorted.length > most
      ? [...sorted.slice(0, most), `${sorted.length - most} other kinds`]
      : sorted;
  return [line('discovery.passed_over', { documents: flaws.length, reasons })];
}

function linesOf(flaws: readonly Flaw[]): readonly LogLine[] {
  const shown = flaws.slice(0, mostLines).map(lineOf);
  const next = flaws[mostLines];
  if (next === undefined) return shown;
  const reason = `${flaws.length - mostLines} more: /debug/flawz has all`;
  return [...shown, line(eventOf(next), { reason })];
}

function lineOf(flaw: Flaw): LogLine {
  const { key, origin, field, reason } = flaw;
  return line(eventOf(flaw), {
    ...(key !== undefined && { resource: key }),
    path: placeOf(origin),
    ...(field !== '' && { field }),
    reason,
  });
}

function eventOf({ severity }: Flaw) {
  return severity === 'error' ? 'discovery.refused' : 'discovery.unserved';
}
