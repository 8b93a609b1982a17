import { defer, type Observable, shareReplay, skipWhile, switchMap, take } from 'rxjs';
import type { Node } from '../../shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { Snapshot } from '../environment/snapshots.ts';
import type { Comes } from '../push/call-events.ts';
import type { ConfigView } from '../push/config-view.ts';
import { servable } from './servable.ts';

/** Returns the resources of Istio that a control plane reads. */
type ConfigFor = (node: Node, comes: Comes) => Observable<ConfigView>;

/**
 * Returns what other control planes read of each snapshot that they may have. They share one view,
 * which exists while there is a reader.
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
        return servable(snapshot$, comes).pipe(
          take(1),
          switchMap(({ number }) => part$.pipe(skipWhile(({ snapshot }) => snapshot < number))),
        );
      }),
    );
}

/** Returns the namespaces that a control plane asks for; none for all of them. */
function namespacesOf({ metadata }: Node): ReadonlySet<string> {
  const text = metadata?.['CONFIG_NAMESPACES'];
  const names = typeof text === 'string' ? text.split(',') : [];
  return new Set(names.filter((name) => name !== ''));
}
