import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { create } from '@bufbuild/protobuf';
import { EMPTY, NEVER, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { NodeSchema } from '../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import type { EnvoyRequest, Push } from '../../../../src/shared/xds/messages.ts';
import {
  initialRelay,
  type RelayEvent,
  type RelayState,
} from '../../../../src/pilot-agent/xds-proxy/relay-state.ts';
import { relay } from '../../../../src/pilot-agent/xds-proxy/relay.ts';
import { xdsRelay } from '../../../../src/pilot-agent/xds-proxy/xds-relay.ts';
import type { EnvoyCall } from '../../../../src/pilot-agent/xds-proxy/xds-server.ts';
import { countXds, noXds } from '../../../../src/pilot-agent/xds-proxy/xds-counts.ts';
import { typeName, typeUrls } from '../../../../src/shared/xds/resources.ts';
import { resource } from '../../../support/marbles/fake-mesh.ts';

const step = relay(60_000);

/** Runs the relay, event by event; `pushes` are all pushes to Envoy. */
function run() {
  let state: RelayState = initialRelay;
  let counts = noXds;
  const pushes: Push[] = [];
  return {
    take: (event: RelayEvent): void => {
      const timed = { ...event, at: 0 };
      const [next, effects] = step(state, timed);
      counts = countXds(counts, { event: timed, before: state, state: next });
      state = next;
      for (const effect of effects) if (effect.type === 'push') pushes.push(effect.push);
    },
    counts: () => ({
      pushes: Object.fromEntries(counts.pushes),
      rejected: Object.fromEntries(counts.rejected),
    }),
    /** Returns the names that are known to be gone. */
    absent: (typeUrl: string) => [...(state.newest.get(typeUrl)?.absent ?? [])],
    /** Returns the pushes since the last call, each as its type and its names. */
    given: () =>
      pushes
        .splice(0)
        .map(({ typeUrl, resources }) =>
          [typeName(typeUrl), ...resources.map(({ name }) => name)].join(' '),
        ),
  };
}

const ask = (typeUrl: string, add: readonly string[], nonce = ''): RelayEvent => {
  const request: EnvoyRequest = {
    ...{ node: create(NodeSchema, { id: 'node' }), typeUrl, nonce, refusal: undefined },
    names: { kind: 'change', add, remove: [], versions: {} },
  };
  return { type: 'requested', stream: 1, request };
};
const say = (
  typeUrl: string,
  ...contents: readonly (readonly [name: string, content: string])[]
): RelayEvent => ({
  type: 'updated',
  connection: 1,
  update: {
    ...{ typeUrl, version: '', nonce: 'n', removed: [], isWhole: false, controlPlane: '' },
    resources: contents.map(([name, content]) => resource(name, content)),
  },
});
const gone = (typeUrl: string, ...removed: readonly string[]): RelayEvent => ({
  type: 'updated',
  connection: 1,
  update: {
    ...{ typeUrl, version: '', nonce: 'n', removed, isWhole: false, controlPlane: '' },
    resources: [],
  },
});

describe('an Envoy that has its configuration', () => {
  const begun = () => {
    const { take, given, absent } = run();
    take({ type: 'stream-opened', stream: 1, variant: 'delta' });
    take(ask(typeUrls.clusters, []));
    take(ask(typeUrls.endpoints, ['a', 'b']));
    take(ask(typeUrls.listeners, []));
    take(ask(typeUrls.routes, ['r']));
    take({ type: 'opened', connection: 1 });
    take(say(typeUrls.clusters, ['a', '1'], ['b', '1']));
    take(say(typeUrls.endpoints, ['a', '1'], ['b', '1']));
    take(say(typeUrls.listeners, ['l', '1']));
    take(say(typeUrls.routes, ['r', '1']));
    let nonce = given().length;
    const accept = (typeUrl: string) => take(ask(typeUrl, [], String(nonce)));
    for (nonce = 1; nonce <= 6; nonce++)
      for (const typeUrl of Object.values(typeUrls).slice(0, 4)) accept(typeUrl);
    given();
    return { take, given, absent };
  };

  it('is given the endpoints again with a changed cluster, and the routes with a changed listener', () => {
    const { take, given } = begun();
    take(say(typeUrls.clusters, ['a', '2']));
    expect(given()).toEqual(['clusters a', 'endpoints a b']);
    take(say(typeUrls.listeners, ['l', '2']));
    expect(given()).toEqual(['listeners l', 'routes r']);
  });

  it('is counted by type: what it is given, and what of that it rejects', () => {
    const { take, counts } = run();
    take({ type: 'stream-opened', stream: 1, variant: 'delta' });
    take(ask(typeUrls.clusters, []));
    take(ask(typeUrls.endpoints, ['a']));
    take(ask('type.googleapis.com/some.Type', ['t']));
    take({ type: 'opened', connection: 1 });
    expect(counts()).toEqual({ pushes: { cds: 0, lds: 0 }, rejected: { cds: 0, lds: 0 } });
    take(say(typeUrls.clusters, ['a', '1']));
    take(say(typeUrls.endpoints, ['a', '1']));
    take(say('type.googleapis.com/some.Type', ['t', '1']));
    take(ask(typeUrls.clusters, [], '1'));
    take(say(typeUrls.clusters, ['a', '2'], ['b', '1']));
    expect(counts().pushes).toMatchObject({ cds: 2, lds: 0, other: 1 });
    take({
      type: 'requested',
      stream: 1,
      request: {
        node: undefined,
        typeUrl: typeUrls.endpoints,
        nonce: '2',
        refusal: { code: 13, message: 'bad' },
        names: { kind: 'change', add: [], remove: [], versions: {} },
      },
    });
    expect(counts().rejected).toEqual({ cds: 0, lds: 0, eds: 1 });
  });

  it('costs no memory for clusters that are gone', () => {
    const { take, absent } = begun();
    for (let round = 0; round < 3; round += 1) {
      take(say(typeUrls.clusters, [`c${round}`, '1']));
      take(gone(typeUrls.clusters, `c${round}`));
    }
    take(gone(typeUrls.endpoints, 'b'));
    expect([absent(typeUrls.clusters), absent(typeUrls.endpoints)]).toEqual([[], ['b']]);
  });

  it('is given nothing of what comes again as it was', () => {
    const { take, given } = begun();
    take(say(typeUrls.clusters, ['a', '1']));
    take(say(typeUrls.endpoints, ['b', '1']));
    expect(given()).toEqual([]);
  });

  it('is given again what it asks for again', () => {
    const { take, given } = begun();
    take(ask(typeUrls.endpoints, ['b']));
    expect(given()).toEqual(['endpoints b']);
  });
});

it('keeps nothing of a stream that has ended', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  const call$ = new Subject<EnvoyCall>();
  const relayed = xdsRelay({
    ...{ call$, connect$: () => NEVER, stored: undefined, write: () => undefined },
    ...{ maxAge: 0, random: () => 0.5 },
  }).subscribe();
  const call = (request$: EnvoyCall['request$']): WeakRef<EnvoyCall['push']> => {
    const push = () => undefined;
    call$.next({ variant: 'delta', request$, push });
    return new WeakRef(push);
  };
  const [ended, open] = [call(EMPTY), call(NEVER)];
  await setImmediate(); // until then the references are strong
  collectGarbage();
  expect([ended.deref(), open.deref()]).toEqual([undefined, expect.any(Function)]);
  relayed.unsubscribe();
});
