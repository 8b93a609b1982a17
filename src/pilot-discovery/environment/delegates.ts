import { type Flaw, keyOf, type Resource, type ResourceKey } from '../istio/documents/model.ts';
import { eachOf, ofKind, type Resources } from './resources.ts';
import type { HttpRoute } from '../istio/traffic/virtual-service.ts';
import { byAge, byText } from './age.ts';
import type { Environment } from './environment.ts';
import { withFullNames } from './full-names.ts';
import { mergeRoutes } from './merge-routes.ts';
import type { Touched } from './touched.ts';

type VirtualService = Resource<'VirtualService'>;
type Routed = Pick<Environment, 'virtualServices' | 'warnings'>;

/**
 * The largest number of matches that a VirtualService gets from delegates. Each of its own matches
 * is combined with each of theirs, so two objects could fill the memory.
 */
const mostMatches = 10_000;

/** Returns the VirtualServices after changes, each with the routes of its delegates. */
export function virtualServicesAfter(
  before: Routed,
  resources: Resources,
  touched: readonly Touched<'VirtualService'>[],
  domain: string,
): Routed {
  if (touched.length === 0)
    return { virtualServices: before.virtualServices, warnings: before.warnings };
  const affected = new Map<ResourceKey, VirtualService | undefined>(
    touched.map(({ key, after }) => [key, after]),
  );
  const isRoot = (virtualService: VirtualService | undefined): virtualService is VirtualService =>
    virtualService !== undefined && virtualService.spec.hosts.length > 0;
  for (const root of rootsOf(resources, new Set(affected.keys()))) affected.set(keyOf(root), root);

  const roots = [...affected.values()].filter(isRoot);
  const warnings: Flaw[] = [];
  const merged = roots.map((root) =>
    withDelegates(withFullNames(root, domain), resources, domain, warnings),
  );
  const kept = before.warnings.filter(({ key }) => key === undefined || !affected.has(key));
  const isSame = warnings.length === 0 && kept.length === before.warnings.length;
  return {
    virtualServices: [
      ...before.virtualServices.filter((virtualService) => !affected.has(keyOf(virtualService))),
      ...merged,
    ].sort(byAge),
    warnings: isSame
      ? before.warnings
      : [...kept, ...warnings].sort(
          (a, b) => byText(a.key ?? '', b.key ?? '') || byText(a.field, b.field),
        ),
  };
}

const delegateKey = (
  { namespace }: VirtualService,
  to: { readonly name: string; readonly namespace: string },
): ResourceKey =>
  keyOf({
    kind: 'VirtualService',
    namespace: to.namespace === '' ? namespace : to.namespace,
    name: to.name,
  });

/** Yields the VirtualServices that lead to one of the delegates. */
function* rootsOf(
  resources: Resources,
  delegates: ReadonlySet<ResourceKey>,
): Generator<VirtualService> {
  for (const root of eachOf(resources, 'VirtualService')) {
    if (
      root.spec.http.some(
        ({ delegate }) => delegate !== undefined && delegates.has(delegateKey(root, delegate)),
      )
    )
      yield root;
  }
}

function withDelegates(
  root: VirtualService,
  resources: Resources,
  domain: string,
  warnings: Flaw[],
): VirtualService {
  if (!root.spec.http.some(({ delegate }) => delegate !== undefined)) return root;
  let left = mostMatches;
  const http = root.spec.http.flatMap((route, index) => {
    if (route.delegate === undefined) return [route];
    const namespace = route.delegate.namespace === '' ? root.namespace : route.delegate.namespace;
    const { name } = route.delegate;
    const candidate = ofKind(resources, 'VirtualService').get(namespace)?.get(name);
    const delegate = withinLimit(usableDelegate(candidate, root.namespace), route, left);
    if (typeof delegate !== 'string') {
      left -= matchCount(route, delegate);
      return mergeRoutes(route, withFullNames(delegate, domain).spec.http);
    }
    const reason = `the route is left out: the delegate ${namespace}/${name} ${delegate}`;
    warnings.push({
      key: keyOf(root),
      origin: root.origin,
      field: `spec.http[${index}].delegate`,
      reason,
      severity: 'warning',
    });
    return [];
  });
  return { ...root, spec: { ...root.spec, http } };
}

/** Returns the largest number of matches that a route and a delegate may make. */
const matchCount = ({ match }: HttpRoute, { spec }: VirtualService): number =>
  spec.http.reduce(
    (count, inner) => count + Math.max(1, match.length) * Math.max(1, inner.match.length),
    0,
  );

/** Returns the delegate; or, as a text, that it has too many matches. */
const withinLimit = (
  delegate: VirtualService | string,
  route: HttpRoute,
  left: number,
): VirtualService | string =>
  typeof delegate === 'string' || matchCount(route, delegate) <= left
    ? delegate
    : `would give it more than ${mostMatches} matches from delegates, which is the limit`;

/** Returns a VirtualService that can be a delegate; or, as a text, why it cannot. */
function usableDelegate(
  delegate: VirtualService | undefined,
  namespace: string,
): VirtualService | string {
  if (delegate === undefined) return 'is not there';
  if (delegate.spec.hosts.length > 0) return 'has hosts of its own, which a delegate may not have';
  const { exportTo } = delegate.spec;
  const isSeen = exportTo.length === 0 || exportTo.includes('*') || exportTo.includes(namespace);
  const isOwn = exportTo.includes('.') && delegate.namespace === namespace;
  return isSeen || isOwn ? delegate : `is not exported to the namespace ${namespace}`;
}
