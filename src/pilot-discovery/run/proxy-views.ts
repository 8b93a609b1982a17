import { Observable, type SchedulerLike, Subject, switchMap } from 'rxjs';
import type { ProxyNode } from '../generate/scope/proxy-node.ts';
import { type SnapshotOfViews, viewer } from '../generate/view-of.ts';
import { sweepUp } from '../../operators/sweep.ts';
import type { View } from '../push/view.ts';

/** A class without a proxy is forgotten after so many ms, and before twice that. */
const longestUnused = 20_000;

/** What proxies are given. */
export interface ProxyViews {
  /** In one snapshot. */
  readonly view: (snapshot: SnapshotOfViews, proxy: ProxyNode) => View;
  /** In each; what is made for the proxy is remembered for as long as somebody subscribes. */
  readonly views$: (snapshot$: Observable<SnapshotOfViews>, proxy: ProxyNode) => Observable<View>;
  /** While somebody subscribes: forgets what was made for proxies that are gone. Emits nothing. */
  readonly forget$: Observable<never>;
}

export function proxyViews(scheduler: SchedulerLike): ProxyViews {
  const unused$ = new Subject<void>();
  const { view, enter, sweep } = viewer(() => unused$.next());
  const whileUsed$ = (snapshot: SnapshotOfViews, proxy: ProxyNode): Observable<View> =>
    new Observable((subscriber) => {
      const [entered, leave] = enter(snapshot, proxy);
      subscriber.next(entered);
      return leave;
    });
  return {
    view,
    views$: (snapshot$, proxy) =>
      snapshot$.pipe(switchMap((snapshot) => whileUsed$(snapshot, proxy))),
    forget$: sweepUp(unused$, longestUnused, sweep, scheduler),
  };
}
