import { Observable, type SchedulerLike, Subject, switchMap } from 'rxjs';
import type { ProxyNode } from '../generate/scope/proxy-node.ts';
import { type SnapshotOfViews, viewer } from '../generate/view-of.ts';
import { sweepUp } from '../../operators/sweep.ts';
import type { View } from '../push/view.ts';

/**
 * How long a class without a proxy is kept at least, in ms. It is dropped before twice that time.
 */
const longestUnused = 20_000;

/** The views of proxies. */
export interface ProxyViews {
  /** Returns the view in one snapshot. */
  readonly view: (snapshot: SnapshotOfViews, proxy: ProxyNode) => View;
  /**
   * Emits the view in each snapshot. Generated resources are kept as long as there is a subscriber.
   */
  readonly views$: (snapshot$: Observable<SnapshotOfViews>, proxy: ProxyNode) => Observable<View>;
  /** Drops what was generated for proxies that are gone. Works while subscribed; emits nothing. */
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
