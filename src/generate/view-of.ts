import type { Environment } from '../snapshot/environment.ts';
import type { TypedView, View, XdsResource, XdsType } from '../push/view.ts';
import { xdsTypes } from '../push/view.ts';
import { clustersOf } from './clusters.ts';
import { typedView } from './encode-resource.ts';
import { endpointsOf } from './endpoints.ts';
import { listenersOf } from './listeners.ts';
import type { ProxyNode } from './proxy-node.ts';
import { classOf } from './proxy-class.ts';
import { routesOf } from './routes.ts';
import { withWorkload } from './with-workload.ts';

const generators: Readonly<Record<XdsType, (environment: Environment, node: ProxyNode) => readonly XdsResource[]>> = {
  cluster: clustersOf,
  endpoint: endpointsOf,
  listener: listenersOf,
  route: routesOf,
};

type Made = Partial<Record<XdsType, TypedView>>;

/** What the proxies of a class are given in an environment, as far as somebody has asked. */
type Known = Map<string, Made>;

/** So many snapshots after a class was asked about for the last time it is forgotten. */
const remembered = 10;

/**
 * Makes the view of a proxy in a snapshot. Proxies of a class share it, and a type is generated
 * when it is first looked at. A type whose content is that of the snapshot before is the same
 * object, whatever else has changed.
 */
export function viewer(): (snapshot: number, environment: Environment, node: ProxyNode) => View {
  const ofEnvironments = new WeakMap<Environment, Known>();
  const last = new Map<string, { readonly made: Made; asked: number }>();
  return (snapshot, environment, proxy) => {
    const node = withWorkload(environment, proxy);
    const name = classOf(environment, node);
    const known = ofEnvironments.get(environment) ?? new Map<string, Made>();
    if (!ofEnvironments.has(environment)) {
      ofEnvironments.set(environment, known);
      for (const [one, { asked }] of last) if (asked + remembered < snapshot) last.delete(one);
    }
    const mine = known.get(name) ?? {};
    known.set(name, mine);
    const kept = last.get(name) ?? { made: {}, asked: snapshot };
    last.set(name, kept);
    kept.asked = snapshot;
    const before = kept.made;
    const typed = (type: XdsType): TypedView => {
      const found = mine[type];
      if (found !== undefined) return found;
      const fresh = typedView(generators[type](environment, node));
      const made = before[type]?.version === fresh.version ? before[type] : fresh;
      before[type] = made;
      mine[type] = made;
      return made;
    };
    const view = { snapshot };
    for (const type of xdsTypes) Object.defineProperty(view, type, { enumerable: true, get: () => typed(type) });
    return view as View;
  };
}
