import type { JsonObject } from '@bufbuild/protobuf';
import { resourceJson } from '../generate/config-dump.ts';
import { type XdsResource, type XdsType, xdsTypes } from '../push/view.ts';
import { changedPaths, type PathChange } from './changed-paths.ts';
import { type ComparedProxy, proxyName } from './described-proxies.ts';
import type { MeshDiff, ProxyGroup, TypeChange } from './mesh-diff.ts';
import type { DumpedResource, ViewBefore } from './view-before.ts';

/** How much of a diff is shown; the rest is counted. */
export const shownAtMost = { groups: 50, proxies: 50, resources: 100, paths: 20, text: 120 };

/** A proxy as it is shown. */
export interface ShownProxy {
  readonly name: string;
  readonly id: string;
  readonly presence: ComparedProxy['presence'];
}

export interface ShownResource {
  readonly type: XdsType;
  readonly name: string;
  readonly change: 'added' | 'removed' | 'changed';
  /** Empty for a resource that is added or removed. */
  readonly paths: readonly PathChange[];
  /** The number of paths that are left out. */
  readonly morePaths: number;
}

export interface ShownGroup {
  readonly proxies: readonly ShownProxy[];
  readonly moreProxies: number;
  /** How many resources change, by type. */
  readonly counts: Readonly<Record<XdsType, number>>;
  readonly resources: readonly ShownResource[];
  readonly moreResources: number;
}

/** A diff of bounded size. */
export interface BoundedDiff {
  readonly compared: number;
  /** The number of proxies for which something changes. */
  readonly changed: number;
  readonly groups: readonly ShownGroup[];
  readonly moreGroups: number;
}

/** Returns the part of a diff that is shown. Its resources are compared field by field. Pure. */
export function boundedDiff({ compared, groups }: MeshDiff<ViewBefore>): BoundedDiff {
  const shown = groups.slice(0, shownAtMost.groups);
  return {
    compared,
    changed: groups.reduce((sum, { proxies }) => sum + proxies.length, 0),
    groups: shown.map(shownGroup),
    moreGroups: groups.length - shown.length,
  };
}

function shownGroup({ proxies, changes }: ProxyGroup<ViewBefore>): ShownGroup {
  const shown = proxies.slice(0, shownAtMost.proxies);
  const all = changes.flatMap((change) => change.names.map((name) => ({ change, name })));
  const resources = all.slice(0, shownAtMost.resources);
  const countOf = (type: XdsType) =>
    changes.find((change) => change.type === type)?.names.length ?? 0;
  return {
    proxies: shown.map((proxy) => ({
      name: proxyName(proxy),
      id: proxy.node.id,
      presence: proxy.presence,
    })),
    moreProxies: proxies.length - shown.length,
    counts: Object.fromEntries(xdsTypes.map((type) => [type, countOf(type)])) as Readonly<
      Record<XdsType, number>
    >,
    resources: resources.map(({ change, name }) => shownResource(change, name)),
    moreResources: all.length - resources.length,
  };
}

function shownResource(
  { type, before, after }: TypeChange<ViewBefore>,
  name: string,
): ShownResource {
  const [old, now] = [before.resources.get(name), after.resources.get(name)];
  const shown = { type, name };
  if (old === undefined || now === undefined)
    return { ...shown, change: now === undefined ? 'removed' : 'added', paths: [], morePaths: 0 };
  const paths = [...changedPaths(jsonOf(type, old), resourceJson(type, now))];
  return {
    ...shown,
    change: 'changed',
    paths: paths.slice(0, shownAtMost.paths).map(shortened),
    morePaths: Math.max(0, paths.length - shownAtMost.paths),
  };
}

const jsonOf = (type: XdsType, resource: XdsResource | DumpedResource): JsonObject =>
  'json' in resource ? resource.json : resourceJson(type, resource);

/** Returns a difference with short values. */
function shortened(change: PathChange): PathChange {
  const { text } = shownAtMost;
  const short = (value: string) => (value.length > text ? `${value.slice(0, text)}…` : value);
  switch (change.kind) {
    case 'added':
      return { ...change, after: short(change.after) };
    case 'removed':
      return { ...change, before: short(change.before) };
    case 'changed':
      return { ...change, before: short(change.before), after: short(change.after) };
    case 'reordered':
      return change;
  }
}
