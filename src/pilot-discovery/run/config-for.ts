import { defer, filter, type Observable, shareReplay, skipWhile, switchMap, take } from 'rxjs';
import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { Snapshot } from '../environment/snapshots.ts';
import type { ConfigView } from '../push/config-view.ts';

/** Returns the resources of Istio that a control plane reads. */
type ConfigFor = (node: Node, comes: 'empty-handed' | 'with-versions') => Observable<ConfigView>;

/**
 * Returns what other control planes read of each snapshot. They share one view, which exists while
 * there is a reader. A reader that has resources already does not lose them to a source that is
 * empty at the start: such a source means a failed mount more often than an intention.
 *
 * @param snapshot$ emits the current snapshot at once, if there is one
 */
export function configFor(snapshot$: Observable<Snapshot>): ConfigFor {
  const load = () => import('../mcp/config-views.ts');
  const view$ = defer(load).pipe(
    switchMap((module) => module.configViews(snapshot$)),
    shareReplay({ bufferSize: 1, refCount: true }),
  );
  return (node, comes) =>
    defer(load).pipe(
      switchMap((module) => {
        const part$ = module.inNamespaces(view$, namespacesOf(node));
        return comes === 'empty-handed' ? part$ : onceReceived(snapshot$, part$);
      }),
    );
}

function onceReceived(
  snapshot$: Observable<Snapshot>,
  view$: Observable<ConfigView>,
): Observable<ConfigView> {
  return snapshot$.pipe(
    filter(({ content }) => content === 'received'),
    take(1),
    switchMap(({ number }) => view$.pipe(skipWhile(({ snapshot }) => snapshot < number))),
  );
}

/** Returns the namespaces that a control plane asks for; none for all of them. */
function namespacesOf({ metadata }: Node): ReadonlySet<string> {
  const text = metadata?.['CONFIG_NAMESPACES'];
  const names = typeof text === 'string' ? text.split(',') : [];
  return new Set(names.filter((name) => name !== ''));
}
