import { changedKeys, SortedMap } from '../../shared/maps/sorted-map.ts';
import type { Environment } from '../environment/environment.ts';
import type { TypedView, View, XdsResource, XdsType } from '../push/view.ts';
import { xdsTypes } from '../push/view.ts';
import { clusterView, inputsOfClusters } from './clusters/clusters.ts';
import { typedView } from './encoding/encode-resource.ts';
import { endpointView } from './endpoints/endpoints.ts';
import { inputsOfListeners, listenerView } from './listeners/listeners.ts';
import { hold, isSame, memoTable, release, type Uses, withUses } from './scope/memo.ts';
import { typesThatMayDiffer } from './scope/may-differ.ts';
import type { ProxyNode } from './scope/proxy-node.ts';
import { classOf } from './proxy-class.ts';
import { routesOf } from './routes/routes.ts';
import { withWorkload } from './scope/with-workload.ts';

interface Generator {
  /**
   * Returns all inputs of the view of a class. The same inputs, one by one, give the same view.
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
  listener: { inputs: inputsOfListeners, make: listenerView },
  route: shared((environment, node) => sharedView(routesOf(environment, node))),
};

/** The inputs of the view of a proxy, to compare them with those in another environment. */
type ViewInputs = Readonly<Record<XdsType, readonly unknown[]>>;

/**
 * Returns the inputs of these types for a proxy; no inputs for other types. This is much cheaper
 * than the view.
 */
export const inputsOf = (
  environment: Environment,
  node: ProxyNode,
  types: readonly XdsType[],
): ViewInputs => {
  const listed = (type: XdsType) =>
    types.includes(type) ? generators[type].inputs(environment, node) : [];
  return {
    cluster: listed('cluster'),
    endpoint: listed('endpoint'),
    listener: listed('listener'),
    route: listed('route'),
  };
};

/** Returns the types whose inputs differ: only their views may differ. */
export const typesWithOtherInputs = (before: ViewInputs, after: ViewInputs): readonly XdsType[] =>
  xdsTypes.filter((type) => !areSame(before[type], after[type]));

type Made = Partial<Record<XdsType, TypedView>>;

/** A class of proxies, with the views that were requested. */
interface ProxyClass {
  readonly name: string;
  readonly viewsByEnvironment: WeakMap<Environment, Made>;
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
  /** Returns the view as `view` does, and keeps the class until the proxy leaves. */
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
  readonly #viewOf: (type: XdsType) => TypedView;

  constructor(snapshot: number, viewOf: (type: XdsType) => TypedView) {
    [this.snapshot, this.#viewOf] = [snapshot, viewOf];
  }

  get cluster(): TypedView {
    return this.#viewOf('cluster');
  }

  get endpoint(): TypedView {
    return this.#viewOf('endpoint');
  }

  get listener(): TypedView {
    return this.#viewOf('listener');
  }

  get route(): TypedView {
    return this.#viewOf('route');
  }
}

/**
 * Returns a viewer that has no classes yet.
 *
 * @param onUnused is called when a class has no proxy, and has to be swept
 */
export function viewer(onUnused: () => void): Viewer {
  const classes = new ProxyClasses(onUnused);
  const classAndView = (
    { number, environment }: SnapshotOfViews,
    proxy: ProxyNode,
  ): readonly [ProxyClass, View] => {
    const node = withWorkload(environment, proxy);
    const proxyClass = classes.classFor(environment, node);
    const viewsByType = viewsIn(proxyClass, environment, node);
    const view = new LazyView(
      number,
      (type) => (viewsByType[type] ??= generated(type, classes, proxyClass, environment, node)),
    );
    return [proxyClass, view];
  };
  return {
    view: (snapshot, proxy) => classAndView(snapshot, proxy)[1],
    enter(snapshot, proxy) {
      const [proxyClass, view] = classAndView(snapshot, proxy);
      classes.enter(proxyClass);
      return [view, () => classes.leave(proxyClass)];
    },
    sweep: () => classes.sweep(),
  };
}

/** The classes that proxies are in, or were in lately. */
class ProxyClasses {
  readonly #classes = new Map<string, ProxyClass>();
  readonly #unused = new Map<ProxyClass, 'since now' | 'for long'>();
  readonly #onUnused: () => void;

  constructor(onUnused: () => void) {
    this.#onUnused = onUnused;
  }

  /** Returns the class of a proxy; a new one has no proxy. */
  classFor(environment: Environment, node: ProxyNode): ProxyClass {
    const name = classOf(environment, node);
    const existing = this.#classes.get(name);
    if (existing !== undefined) return existing;
    const proxyClass: ProxyClass = {
      name,
      viewsByEnvironment: new WeakMap(),
      newest: undefined,
      last: new Map(),
      proxies: 0,
    };
    this.#classes.set(name, proxyClass);
    this.#isUnused(proxyClass);
    return proxyClass;
  }

  /** Returns whether the class has not been forgotten. */
  has(proxyClass: ProxyClass): boolean {
    return this.#classes.get(proxyClass.name) === proxyClass;
  }

  enter(proxyClass: ProxyClass): void {
    proxyClass.proxies += 1;
    this.#unused.delete(proxyClass);
  }

  leave(proxyClass: ProxyClass): void {
    proxyClass.proxies -= 1;
    if (proxyClass.proxies === 0) this.#isUnused(proxyClass);
  }

  sweep(): number {
    for (const [proxyClass, since] of this.#unused) {
      this.#unused.set(proxyClass, 'for long');
      if (since === 'since now') continue;
      this.#unused.delete(proxyClass);
      this.#classes.delete(proxyClass.name);
      for (const { uses } of proxyClass.last.values()) release(uses);
    }
    return this.#unused.size;
  }

  #isUnused(proxyClass: ProxyClass): void {
    this.#unused.set(proxyClass, 'since now');
    this.#onUnused();
  }
}

/**
 * Returns the views of a class in an environment. Views of the previous environment that are still
 * valid are used again.
 */
function viewsIn(proxyClass: ProxyClass, environment: Environment, node: ProxyNode): Made {
  const existing = proxyClass.viewsByEnvironment.get(environment);
  if (existing !== undefined) return existing;
  const viewsByType: Made = {};
  if (proxyClass.newest !== undefined) {
    const [before, old] = proxyClass.newest;
    const types = typesThatMayDiffer(before, environment, node);
    for (const type of xdsTypes)
      if (!types.has(type) && old[type] !== undefined) viewsByType[type] = old[type];
  }
  proxyClass.viewsByEnvironment.set(environment, viewsByType);
  proxyClass.newest = [environment, viewsByType];
  return viewsByType;
}

function generated(
  type: XdsType,
  classes: ProxyClasses,
  proxyClass: ProxyClass,
  environment: Environment,
  node: ProxyNode,
): TypedView {
  const last = proxyClass.last.get(type);
  const { inputs, make } = generators[type];
  const [current, uses] = withUses(() => {
    const now = inputs(environment, node);
    return last !== undefined && areSame(last.inputs, now)
      ? last
      : { view: make(environment, node), inputs: now };
  });
  if (last !== undefined && current === last) return last.view;
  // Other inputs may make equal content.
  const view =
    last !== undefined && hasSameResources(last.view, current.view) ? last.view : current.view;
  // A class that was forgotten meanwhile keeps nothing: this is its last use.
  if (classes.has(proxyClass)) {
    hold(uses);
    release(last?.uses ?? []);
    proxyClass.last.set(type, { view, inputs: current.inputs, uses });
  }
  return view;
}

/** Returns whether two lists have the same values; lists in them are compared one by one. */
const areSame = (first: readonly unknown[], second: readonly unknown[]): boolean =>
  first.length === second.length &&
  first.every(
    (value, index) =>
      value === second[index] ||
      (Array.isArray(value) && Array.isArray(second[index]) && isSame(value, second[index])),
  );

function hasSameResources(
  { resources: first }: TypedView,
  { resources: second }: TypedView,
): boolean {
  if (first === second) return true;
  if (first.size !== second.size) return false;
  return first instanceof SortedMap && second instanceof SortedMap
    ? changedKeys(first, second).length === 0
    : isSame([...first.values()], [...second.values()]);
}
