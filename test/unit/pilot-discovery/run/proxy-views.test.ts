import { BehaviorSubject, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { proxyViews } from '../../../../src/pilot-discovery/run/proxy-views.ts';
import type { View } from '../../../../src/pilot-discovery/push/view.ts';
import { environmentOf, proxyAt } from '../../../support/generated.ts';

const entry = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: default }
spec: { hosts: [a.mesh], resolution: DNS, ports: [{ number: 80, name: http, protocol: HTTP }] }
`;

function newSetup() {
  const scheduler = new VirtualTimeScheduler();
  const { views$, view, forget$ } = proxyViews(scheduler);
  forget$.subscribe({ error: expect.unreachable });
  const environment = environmentOf(entry);
  const snapshot$ = new BehaviorSubject({ number: 1, environment });
  /** Connects a proxy; returns the clusters of its views, and a function that disconnects it. */
  const connect = () => {
    const views: View[] = [];
    const subscription = views$(snapshot$, proxyAt()).subscribe({
      next: (emittedView) => views.push(emittedView),
      error: expect.unreachable,
    });
    return {
      clusters: () => views.map(({ cluster }) => cluster),
      leave: () => subscription.unsubscribe(),
    };
  };
  const after = (ms: number) => {
    scheduler.maxFrames = scheduler.now() + ms;
    scheduler.schedule(() => undefined, ms);
    scheduler.flush();
  };
  return { connect, after, snapshot$, environment, view, scheduler };
}

describe('the views of proxies', () => {
  it('are those of others of their class', () => {
    const { connect } = newSetup();
    const [proxy, other] = [connect(), connect()];
    expect(proxy.clusters()[0]).toBe(other.clusters()[0]);
    expect([...(proxy.clusters()[0]?.resources.keys() ?? [])]).toContain('outbound|80||a.mesh');
  });

  it('are the same objects in a later snapshot with equal content', () => {
    const { connect, snapshot$ } = newSetup();
    const { clusters } = connect();
    snapshot$.next({ number: 2, environment: environmentOf(entry) });
    expect(clusters()).toHaveLength(2);
    expect(clusters()[1]).toBe(clusters()[0]);
  });

  it('are remembered for 20 s after the last proxy has gone, and not for a minute', () => {
    const { connect, after } = newSetup();
    const proxy = connect();
    const [first] = proxy.clusters();
    proxy.leave();
    after(19_000);
    const other = connect();
    expect(other.clusters()[0]).toBe(first);
    other.leave();
    after(60_000);
    expect(connect().clusters()[0]).not.toBe(first);
  });

  it('are remembered for as long as one proxy is connected', () => {
    const { connect, after } = newSetup();
    const [proxy, other] = [connect(), connect()];
    const [first] = proxy.clusters();
    other.leave();
    after(600_000);
    expect(connect().clusters()[0]).toBe(first);
  });

  it('are forgotten if somebody has only looked', () => {
    const { view, environment, after, scheduler } = newSetup();
    const look = () => view({ number: 1, environment }, proxyAt()).cluster;
    const first = look();
    expect(look()).toBe(first);
    after(60_000);
    expect(look()).not.toBe(first);
    scheduler.maxFrames = Infinity;
    scheduler.flush();
    expect(scheduler.actions).toEqual([]);
  });
});
