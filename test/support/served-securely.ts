import { asyncScheduler, EMPTY, NEVER, of, type Subscription } from 'rxjs';
import { expect } from 'vitest';
import type { View } from '../../src/pilot-discovery/push/view.ts';
import { noReaders } from '../../src/pilot-discovery/identity/config-access.ts';
import { type SecurePort, serveGrpc } from '../../src/pilot-discovery/run/serve-grpc.ts';
import type { DiscoveryEvent } from '../../src/pilot-discovery/state/discovery-event.ts';
import { eventually } from './eventually.ts';

const nothing = { version: '', resources: new Map() };
const cluster = { name: 'a', version: '1', body: Buffer.from('a'), keys: [] };
const view: View = {
  snapshot: 1,
  cluster: { version: '1', resources: new Map([['a', cluster]]) },
  ...{ endpoint: nothing, listener: nothing, route: nothing },
};

/** Serves one cluster on a secure port of loopback; resolves when it listens. */
export async function servedSecurely(
  port: number,
  secure: Pick<SecurePort, 'serving$' | 'identify$'>,
  events: DiscoveryEvent[],
): Promise<Subscription> {
  const running = serveGrpc(
    {
      plain: undefined,
      secure: {
        ...secure,
        address: { host: '127.0.0.1', port },
        nodes: 'own',
        services: [],
        upkeep$: EMPTY,
      },
    },
    {
      configFor$: () => EMPTY,
      configReaders: noReaders,
      viewFor$: () => of(view),
      secretsOf$: () => EMPTY,
      controlPlane: '',
      throttle: 1,
      drain$: NEVER,
      scheduler: asyncScheduler,
      keepalive: { interval: 30_000, timeout: 10_000, age: 0 },
      largestRequest: 4 << 20,
    },
  ).subscribe({
    next: (event) => events.push(event),
    error: (error: unknown) => expect.unreachable(String(error)),
  });
  await eventually(() => events.some(({ type }) => type === 'listening'));
  return running;
}
