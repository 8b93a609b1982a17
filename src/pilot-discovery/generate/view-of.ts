import { changedKeys, SortedMap } from '../../shared/maps/sorted-map.ts';
import type { Environment } from '../environment/environment.ts';
import type { TypedView, View, XdsResource, XdsType } from '../push/view.ts';
import { xdsTypes } from '../push/view.ts';
import { clusterView, inputsOfClusters } from './clusters/clusters.ts';
import { typedView } from './encoding/encode-resource.ts';
import { endpointView } from './endpoints/endpoints.ts';
import { inputsOfListeners, listenersOf } from './listeners/listeners.ts';
import { hold, isSame, memoTable, release, type Uses, withUses } from './scope/memo.ts';
import { typesThatMayDiffer } from './scope/may-differ.ts';
import type { ProxyNode } from './scope/proxy-node.ts';
import { classOf } from './proxy-class.ts';
import { routesOf } from './routes/routes.ts';
import { withWorkload } from './scope/with-workload.ts';

interface Generator {
  /**
   * Returns all inputs of the view of a class. As long as they are equal, one by one, the view is.
   */
  readonly inputs: (environment: Environment, node: ProxyNode) => readonly unknown[];
  readonly make: (environment: Environment, node: ProxyNode) => TypedView;
}

const views = memoTable<TypedView>();

/** Returns the same view for resources that classes share. */
const sharedView = (resources: readonly XdsResource[]): TypedView =>
  views([resources], '', () => typedView(resources));

const shared = (make: Generator['make']): Generator => ({
  inputs: (environment, node) => [make(environment, node)],
  make,
});

const generators: Readonly<Record<XdsType, Generator>> = {
  cluster: { inputs: inputsOfClusters, make: clusterView },
  endpoint: shared(endpointView),
  listener: {
    inputs: inputsOfListeners,
    make: (environment, node) => typedView(listenersOf(environment, node)),
  },
  route: shared((environment, node) => sharedView(routesOf(environment, node))),
};

type Made = Partial<Record<XdsType, TypedView>>;

/** A class of proxies, with the views that were requested. */
interface ProxyClass {
  readonly name: string;
  readonly made: WeakMap<Environment, Made>;
  /** The views that were requested last. */
  newest: readonly [Environment, Made] | undefined;
  readonly last: Map<XdsType, Last>;
  /** The number of its proxies that are connected. */
  proxies: number;
}

/** The last view, its inputs, and the entries of the memo tables that it uses. */
interface Last {
  readonly view: TypedView;
  readonly inputs: readonly unknown[];
  readonly uses: Uses;
}

export interface SnapshotOfViews {
  readonly number: number;
  readonly environment: Environment;
}

/**
 * Makes the view of a proxy in a snapshot. Proxies of a class share it, and a type is generated
 * when it is first read. A type whose content is equal to that of the snapshot before is the same
 * object, whatever else has changed.
 */
export interface Viewer {
  /** Returns the view of a proxy in a snapshot. */
  readonly view: (snapshot: SnapshotOfViews, proxy: ProxyNode) => View;
  /** Returns the same; keeps the class until the proxy leaves. */
  readonly enter: (
    snapshot: SnapshotOfViews,
    proxy: ProxyNode,
  ) => readonly [View, leave: () => void];
  /**
   * Forgets classes that have had no proxy since the last sweep; returns how many others have none.
   */
  readonly sweep: () => number;
}

/** A view whose types are made when they are first read. */
class LazyView implements View {
  readonly snapshot: number;
  readonly #made: (type: XdsType) => TypedView;

  constructor(snapshot: number, made: (type: XdsType) => TypedView) {
    [this.snapshot, this.#made] = [snapshot, made];
  }

  get cluster(): TypedView {
    return this.#made('cluster');
  }

  get endpoint(): TypedView {
    return this.#made('endpoint');
  }

  get listener(): TypedView {
    return this.#made('listener');
  }

  get route(): TypedView {
    return this.#made('route');
  }
}

/**
 * Returns a viewer with its own classes.
 *
 * @param told is called when a class has no proxy, and has to be swept
 */
export function viewer(told: () => void): Viewer {
  const classes = new Map<string, ProxyClass>();
  const unused = new Map<ProxyClass, 'since now' | 'for long'>();
  const isUnused = (one: ProxyClass): void => {
    unused.set(one, 'since now');
    told();
  };
  const classFor = (environment: Environment, node: ProxyNode): ProxyClass => {
    const name = classOf(environment, node);
    const known = classes.get(name);
    if (known !== undefined) return known;
    const fresh: ProxyClass = {
      name,
      made: new WeakMap(),
      newest: undefined,
      last: new Map(),
      proxies: 0,
    };
    classes.set(name, fresh);
    isUnused(fresh);
    return fresh;
  };
  const generate = (
    type: XdsType,
    mine: ProxyClass,
    environment: Environment,
    node: ProxyNode,
  ): TypedView => {
    const last = mine.last.get(type);
    const { inputs, make } = generators[type];
    const [found, uses] = withUses(() => {
      const now = inputs(environment, node);
      return last !== undefined && areSame(last.inputs, now)
        ? last
        : { view: make(environment, node), inputs: now };
    });
    if (last !== undefined && found === last) return last.view;
    // Other inputs may make equal content.
    const view =
      last !== undefined && hasSameResources(last.view, found.view) ? last.view : found.view;
    // A class that was forgotten meanwhile keeps nothing: this is its last use.
    if (classes.get(mine.name) === mine) {
      hold(uses);
      release(last?.uses ?? []);
      mine.last.set(type, { view, inputs: found.inputs, uses });
    }
    return view;
  };
  const madeIn = (mine: ProxyClass, environment: Environment, node: ProxyNode): Made => {
    const known = mine.made.get(environment);
    if (known !== undefined) return known;
    const made: Made = {};
    if (mine.newest !== undefined) {
      const [before, old] = mine.newest;
      const types = typesThatMayDiffer(before, environment, node);
      for (const type of xdsTypes)
        if (!types.has(type) && old[type] !== undefined) made[type] = old[type];
    }
    mine.made.set(environment, made);
    mine.newest = [environment, made];
    return made;
  };
  const viewOf = (
    mine: ProxyClass,
    { number, environment }: SnapshotOfViews,
    node: ProxyNode,
  ): View => {
    const made = madeIn(mine, environment, node);
    return new LazyView(number, (type) => (made[type] ??= generate(type, mine, environment, node)));
  };
  const classAndView = (
    snapshot: SnapshotOfViews,
    proxy: ProxyNode,
  ): readonly [ProxyClass, View] => {
    const node = withWorkload(snapshot.environment, proxy);
    const mine = classFor(snapshot.environment, node);
    return [mine, viewOf(mine, snapshot, node)];
  };
  const enter: Viewer['enter'] = (snapshot, proxy) => {
    const [mine, view] = classAndView(snapshot, proxy);
    mine.proxies += 1;
    unused.delete(mine);
    const leave = (): void => {
      mine.proxies -= 1;
      if (mine.proxies === 0) isUnused(mine);
    };
    return [view, leave];
  };
  const sweep = (): number => {
    for (const [one, since] of unused) {
      unused.set(one, 'for long');
      if (since === 'since now') continue;
      unused.delete(one);
      classes.delete(one.name);
      for (const { uses } of one.last.values()) release(uses);
    }
    return unused.size;
  };
  return { view: (snapshot, proxy) => classAndView(snapshot, proxy)[1], enter, sweep };
}

/** Returns whether two lists have the same values; lists in them are compared one by one. */
const areSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length &&
  one.every(
    (value, index) =>
      value === other[index] ||
      (Array.isArray(value) && Array.isArray(other[index]) && isSame(value, other[index])),
  );

function hasSameResources({ resources: one }: TypedView, { resources: other }: TypedView): boolean {
  if (one === other) return true;
  if (one.size !== other.size) return false;
  return one instanceof SortedMap && other instanceof SortedMap
    ? changedKeys(one, other).length === 0
    : isSame([...one.values()], [...other.values()]);
}
