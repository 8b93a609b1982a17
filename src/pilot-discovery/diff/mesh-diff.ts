import { byText } from '../environment/age.ts';
import type { Environment } from '../environment/environment.ts';
import { groupedBy } from '../environment/grouped.ts';
import { classOf } from '../generate/proxy-class.ts';
import { typesThatMayDiffer } from '../generate/scope/may-differ.ts';
import { withWorkload } from '../generate/scope/with-workload.ts';
import { inputsOf, typesWithOtherInputs, viewer } from '../generate/view-of.ts';
import {
  changedNames,
  type TypedView,
  type VersionedView,
  type View,
  type XdsType,
  xdsTypes,
} from '../push/view.ts';
import { type ComparedProxy, proxyName } from './described-proxies.ts';
import type { MeshPair } from './mesh-pair.ts';
import type { RunningProxy } from './running-mesh.ts';

/** The resources of one type that change for a proxy. */
export interface TypeChange<Before extends VersionedView = VersionedView> {
  readonly type: XdsType;
  /** Names of resources that are added, removed or changed, in order. Not empty. */
  readonly names: readonly string[];
  readonly before: Before;
  readonly after: TypedView;
}

/** Proxies with exactly the same changes. */
export interface ProxyGroup<Before extends VersionedView = VersionedView> {
  /** In order of their names; not empty. */
  readonly proxies: readonly ComparedProxy[];
  readonly changes: readonly TypeChange<Before>[];
}

/** Connected proxies that may have the same changes, and what they receive after the change. */
export interface RunningGroup {
  /** In order of their names; not empty. */
  readonly proxies: readonly ComparedProxy[];
  readonly after: View;
  /** The types with another version. */
  readonly types: readonly XdsType[];
}

/** The changes for the proxies of a mesh. */
export interface MeshDiff<Before extends VersionedView = VersionedView> {
  /** The number of all proxies that were compared. */
  readonly compared: number;
  /** In order of the names of their first proxies. */
  readonly groups: readonly ProxyGroup<Before>[];
}

/**
 * Returns what a change of a mesh changes for proxies. Views are compared by identity and by
 * versions, and only those that the change may affect are generated. Pure.
 */
export function meshDiff(
  { before, after }: MeshPair,
  proxies: readonly ComparedProxy[],
): MeshDiff<TypedView> {
  const { view } = viewer(() => undefined);
  const affected = affectedProxies({ before, after }, proxies);
  const viewsIn = (environment: Environment, number: number) =>
    affected.map(({ proxy, types }) => {
      const proxyView = view({ number, environment }, proxy.node);
      return types.map((type) => ({ type, typed: proxyView[type] }));
    });
  // All views of the old mesh are made first: the views of the new mesh reuse them.
  const [old, now] = [viewsIn(before, 1), viewsIn(after, 2)];
  const changed = affected.map(({ proxy }, index) => ({
    proxy,
    changes: (old[index] ?? []).flatMap(({ type, typed }, place) =>
      typeChange(type, typed, now[index]?.[place]?.typed ?? typed),
    ),
  }));
  const groups = groupedBy(
    changed.filter(({ changes }) => changes.length > 0),
    ({ changes }) => textOf(changes),
  );
  return {
    compared: proxies.length,
    groups: inOrder(
      [...groups.values()].map((group) => ({
        proxies: group.map(({ proxy }) => proxy),
        changes: group[0]?.changes ?? [],
      })),
    ),
  };
}

const textOf = (changes: readonly TypeChange<TypedView>[]): string =>
  changes.map(({ type, before, after }) => `${type} ${before.version} ${after.version}`).join('\n');

/** Returns the change of a type; an empty list if nothing changes. */
export function typeChange<Before extends VersionedView>(
  type: XdsType,
  before: Before,
  after: TypedView,
): readonly TypeChange<Before>[] {
  const names = changedNames(before, after);
  return names.length === 0 ? [] : [{ type, names: names.toSorted(byText), before, after }];
}

/**
 * Groups the connected proxies for which something may change, by the versions of their views
 * before and after the change.
 */
export function groupedByVersions(
  environment: Environment,
  running: readonly RunningProxy[],
): readonly RunningGroup[] {
  const { view } = viewer(() => undefined);
  const affected = running
    .map((runningProxy) => {
      const after = view({ number: 1, environment }, runningProxy.proxy.node);
      const types = xdsTypes.filter((type) => after[type].version !== runningProxy.versions[type]);
      return { ...runningProxy, after, types };
    })
    .filter(({ types }) => types.length > 0);
  const groups = groupedBy(affected, ({ after, versions, types }) =>
    types.map((type) => `${type} ${versions[type]} ${after[type].version}`).join('\n'),
  );
  return inOrder(
    [...groups.values()].flatMap((group) =>
      group
        .slice(0, 1)
        .map(({ after, types }) => ({ proxies: group.map(({ proxy }) => proxy), after, types })),
    ),
  );
}

/** Returns groups, and the proxies in them, in order of names. */
function inOrder<G extends { readonly proxies: readonly ComparedProxy[] }>(
  groups: readonly G[],
): readonly G[] {
  const firstName = ({ proxies: [first] }: G) => (first === undefined ? '' : proxyName(first));
  return groups
    .map((group) => ({ ...group, proxies: group.proxies.toSorted(byProxyName) }))
    .sort((a, b) => byText(firstName(a), firstName(b)));
}

const byProxyName = (a: ComparedProxy, b: ComparedProxy): number =>
  byText(proxyName(a), proxyName(b));

interface AffectedProxy {
  readonly proxy: ComparedProxy;
  /** Not empty. */
  readonly types: readonly XdsType[];
}

/**
 * Returns the proxies whose views may differ. Each address with an endpoint makes a class of
 * proxies, so there may be thousands of views. Their inputs are mostly the same objects before and
 * after a change.
 */
function affectedProxies(
  { before, after }: MeshPair,
  proxies: readonly ComparedProxy[],
): readonly AffectedProxy[] {
  const compared = proxies
    .map((proxy) => {
      const [old, now] = [withWorkload(before, proxy.node), withWorkload(after, proxy.node)];
      const hasClass = classOf(before, old) === classOf(after, now);
      const types = hasClass ? [...typesThatMayDiffer(before, after, now)] : xdsTypes;
      return { proxy, old, now, hasClass, types };
    })
    .filter(({ types }) => types.length > 0);
  // All inputs of the old mesh are made first: the inputs of the new mesh reuse them.
  const oldInputs = compared.map(({ old, hasClass, types }) =>
    hasClass ? inputsOf(before, old, types) : undefined,
  );
  return compared
    .map(({ proxy, now, types }, index): AffectedProxy => {
      const inputs = oldInputs[index];
      return inputs === undefined
        ? { proxy, types }
        : { proxy, types: typesWithOtherInputs(inputs, inputsOf(after, now, types)) };
    })
    .filter((affected) => affected.types.length > 0);
}
