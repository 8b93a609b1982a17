import { setTimeout as sleep } from 'node:timers/promises';
import { asyncScheduler, EMPTY, map, NEVER, shareReplay, Subject, type Subscription } from 'rxjs';
import { ofType } from '../../src/operators/tagged-union.ts';
import { snapshots } from '../../src/pilot-discovery/environment/snapshots.ts';
import { readResourcesInSteps } from '../../src/pilot-discovery/istio/documents/read-resources.ts';
import { writeBody } from '../../src/pilot-discovery/mcp/write-body.ts';
import { filesSource } from '../../src/pilot-discovery/registry/files/files-source.ts';
import { configFor } from '../../src/pilot-discovery/run/config-for.ts';
import { serveGrpc } from '../../src/pilot-discovery/run/serve-grpc.ts';
import { connects } from './connects.ts';
import { eventually } from './eventually.ts';

/** A pilot-discovery in this process, from which others read the resources of a folder. */
export interface ConfigParent {
  start(): Promise<void>;
  /** Ends all streams, and refuses new ones. The folder stays. */
  stop(): Promise<void>;
}

export function configParent(folder: string, port: number): ConfigParent {
  let running: Subscription | undefined;
  const drain$ = new Subject<number>();
  return {
    async start() {
      const window = { after: 5, max: 50, endpoints: true, adaptive: false };
      const settings = { domain: 'cluster.local', gatewayClusters: 'reached' } as const;
      const snapshot$ = filesSource(folder, { read: readResourcesInSteps, writeBody }).pipe(
        snapshots(['files'], settings, window, asyncScheduler),
        ofType('built'),
        map(({ snapshot }) => snapshot),
        shareReplay({ bufferSize: 1, refCount: true }),
      );
      running = serveGrpc(
        { plain: { host: '127.0.0.1', port }, secure: undefined },
        {
          configFor$: configFor(snapshot$),
          configReaders: { accounts: new Set(), plaintext: 'anyone' },
          viewFor$: () => NEVER,
          secretsOf$: () => EMPTY,
          controlPlane: 'test',
          throttle: 8,
          keepalive: { interval: 30_000, timeout: 10_000, age: 0 },
          largestRequest: 1 << 22,
          drain$,
          scheduler: asyncScheduler,
        },
      ).subscribe();
      running.add(snapshot$.subscribe());
      await eventually(() => connects(port));
    },
    async stop() {
      drain$.next(0);
      await sleep(50);
      running?.unsubscribe();
      running = undefined;
      await eventually(async () => !(await connects(port)));
    },
  };
}
