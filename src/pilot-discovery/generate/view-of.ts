import type { Environment } from '../environment/environment.ts';
import type { TypedView, View, XdsResource, XdsType } from '../push/view.ts';
import { xdsTypes } from '../push/view.ts';
import { inputsOfClusters, ownClusters } from './clusters/clusters.ts';
import { typedView, withResources } from './encoding/encode-resource.ts';
import { endpointsOf } from './endpoints/endpoints.ts';
import { inputsOfListeners, listenersOf } from './listeners/listeners.ts';
import { hold, isSame, memoTable, release, type Uses, withUses } from './scope/memo.ts';
import { outboundClusters } from './clusters/outbound-clusters.ts';
import type { ProxyNode } from './scope/proxy-node.ts';
import { classOf } from './proxy-class.ts';
import { routesOf } from './routes/routes.ts';
import { withWorkload } from './scope/with-workload.ts';

interface Generator {
  /** All that the view of a class is made of: it is the same as long as these are, one by one. */
  readonly inputs: (environment: Environment, node: ProxyNode) => readonly unknown[];
  readonly make: (environment: Environment, node: ProxyNode) => TypedView;
}

const views = memoTable<TypedView>();

/** Resources that classes share are one view. */
const sharedView = (resources: readonly XdsResource[]): TypedView =>
  views([resources], '', () => typedView(resources));

const shared = (
  resourcesOf: (environment: Environment, node: ProxyNode) => readonly XdsResource[],
): Generator => ({
  inputs: (environment, node) => [resourcesOf(environment, node)],
  make: (environment, node) => sharedView(resourcesOf(environment, node)),
});

const generators: Readonly<Record<XdsType, Generator>> = {
  cluster: {
    inputs: (environment, node) => [
      outboundClusters(environment, node),
      ...inputsOfClusters(environment, node),
    ],
    make: (environment, node) =>
      withResources(
        sharedView(outboundClusters(environment, node)),
        ownClusters(environment, node),
      ),
  },
  endpoint: shared(endpointsOf),
  listener: {
    inputs: inputsOfListeners,
    make: (environment, node) => typedView(listenersOf(environment, node)),
  },
  route: shared(routesOf),
};

/** A class of proxies, as far as somebody has asked for what they are given. */
interface ProxyClass {
  readonly name: string;
  readonly made: WeakMap<Environment, Partial<Record<XdsType, TypedView>>>;
  readonly last: Map<XdsType, Last>;
  /** How many proxies of it are connected. */
  proxies: number;
}

/** What was made last, of what, and what of the tables that took. */
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
 * when it is first looked at. A type whose content is that of the snapshot before is the same
 * object, whatever else has changed.
 */
export interface Viewer {
  /** What a proxy is given in a snapshot. */
  readonly view: (snapshot: SnapshotOfViews, proxy: ProxyNode) => View;
  /** The same; its class is remembered until the proxy leaves. */
  readonly enter: (
    snapshot: SnapshotOfViews,
    proxy: ProxyNode,
  ) => readonly [View, leave: () => void];
  /** Forgets classes without a proxy since the last sweep; how many have none since then. */
  readonly sweep: () => number;
}

/** @param told is called once a class has no proxy: it is to be swept */
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
    const fresh: ProxyClass = { name, made: new WeakMap(), last: new Map(), proxies: 0 };
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
      return last !== undefined && isSame(last.inputs, now)
        ? last
        : { view: make(environment, node), inputs: now };
    });
    if (last !== undefined && found === last) return last.view;
    // Equal content may be made of other resources.
    const view =
      last !== undefined &&
      isSame([...last.view.resources.values()], [...found.view.resources.values()])
        ? last.view
        : found.view;
    // Who looks at a class that is forgotten by now is its last.
    if (classes.get(mine.name) === mine) {
      hold(uses);
      release(last?.uses ?? []);
      mine.last.set(type, { view, inputs: found.inputs, uses });
    }
    return view;
  };
  const viewOf = (
    mine: ProxyClass,
    { number, environment }: SnapshotOfViews,
    node: ProxyNode,
  ): View => {
    const known = mine.made.get(environment) ?? {};
    mine.made.set(environment, known);
    const view = { snapshot: number };
    for (const type of xdsTypes)
      Object.defineProperty(view, type, {
        enumerable: true,
        get: () => (known[type] ??= generate(type, mine, environment, node)),
      });
    return view as View;
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
