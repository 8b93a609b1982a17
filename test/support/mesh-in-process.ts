import { VirtualTimeScheduler } from 'rxjs';
import { buildEnvironment } from '../../src/pilot-discovery/environment/build-environment.ts';
import type { Environment } from '../../src/pilot-discovery/environment/environment.ts';
import type { StoreEvent } from '../../src/pilot-discovery/environment/store-event.ts';
import { emptyStore, reduceStore } from '../../src/pilot-discovery/environment/store.ts';
import type { ProxyNode } from '../../src/pilot-discovery/generate/scope/proxy-node.ts';
import { viewer } from '../../src/pilot-discovery/generate/view-of.ts';
import { readResources } from '../../src/pilot-discovery/istio/documents/read-resources.ts';
import { answerEncoder } from '../../src/pilot-discovery/push/encode-answer.ts';
import {
  newProxyStream,
  type ProxyEffect,
  type ProxyStream,
} from '../../src/pilot-discovery/push/proxy-stream.ts';
import { reduceProxy } from '../../src/pilot-discovery/push/reduce-proxy.ts';
import { typeUrls, type View, xdsTypes } from '../../src/pilot-discovery/push/view.ts';
import type { EnvoyRequest, Variant } from '../../src/shared/xds/messages.ts';

const node = { id: 'sidecar~10.0.0.1~a.b~c' } as NonNullable<EnvoyRequest['node']>;

/** The costs of a change: CPU times in ms, and counts. */
export interface Cost {
  readonly build: number;
  readonly views: number;
  readonly answers: number;
  readonly all: number;
  /** The number of answers that were sent. */
  readonly given: number;
  /** The size of these answers. */
  readonly bytes: number;
}

/** A proxy that ACKs every answer. */
interface Client {
  readonly proxy: ProxyNode;
  /** The names that it requests, by type URL; an empty list for all resources. */
  readonly named: Map<string, readonly string[]>;
  state: ProxyStream;
  leave: () => void;
}

/**
 * Returns a control plane without files and sockets. It turns a change of resources into the bytes
 * of the answers to proxies, which ACK them at once.
 */
export function meshInProcess(variant: Variant, proxies: readonly ProxyNode[]) {
  const { enter, sweep } = viewer(() => undefined);
  const { encode } = answerEncoder('test', new VirtualTimeScheduler());
  let store = emptyStore(['files']);
  let environment: Environment | undefined;
  let number = 0;
  let clients: readonly Client[] = [];
  let counted = { given: 0, bytes: 0 };

  const ask = (client: Client, typeUrl: string, nonce: string, named: readonly string[]): void => {
    const names =
      variant === 'delta'
        ? ({ kind: 'change', add: named, remove: [], versions: {} } as const)
        : ({ kind: 'all', names: named, version: '' } as const);
    const request = { node, typeUrl, nonce, refusal: undefined, names };
    take(client, reduceProxy(client.state, { type: 'request', request }));
  };
  const take = (
    client: Client,
    [state, effects]: readonly [ProxyStream, readonly ProxyEffect[]],
  ): void => {
    client.state = state;
    for (const effect of effects) {
      if (effect.type !== 'answer') continue;
      const { typeUrl, nonce } = effect.answer;
      counted = {
        given: counted.given + 1,
        bytes: counted.bytes + encode(effect.answer, variant).length,
      };
      ask(client, typeUrl, nonce, variant === 'delta' ? [] : (client.named.get(typeUrl) ?? []));
    }
  };
  const look = (client: Client): View => {
    if (environment === undefined) throw new Error('nothing has been told');
    const [view, leave] = enter({ number, environment }, client.proxy);
    client.leave();
    client.leave = leave;
    return view;
  };

  const build = (event: StoreEvent): void => {
    const [next, changes] = reduceStore(store, event);
    environment = buildEnvironment(environment, next, changes, 'cluster.local', 'reached');
    store = next;
    number += 1;
  };

  return {
    /** Adds or replaces the resources in a text. All proxies have them when it returns the cost. */
    change(yaml: string): Cost {
      // The reader is fast for a text with one document, and slow for several.
      const upserts = yaml.split('---\n').flatMap((document) => {
        const read = readResources(document, {
          source: 'files',
          path: 'mesh.yaml',
          defaultNamespace: 'default',
        });
        if (read.flaws.length > 0) throw new Error(JSON.stringify(read.flaws));
        return read.resources;
      });
      counted = { given: 0, bytes: 0 };
      const times = [cpuNow()];
      build({ type: 'changed', source: 'files', upserts, removes: [] });
      times.push(cpuNow());
      const isFirst = clients.length === 0;
      if (isFirst)
        clients = proxies.map((proxy) => ({
          proxy,
          named: new Map(),
          state: newProxyStream(variant),
          leave: () => undefined,
        }));
      const views = clients.map((client) => {
        const view = look(client);
        if (xdsTypes.some((type) => view[type].version === '-')) throw new Error('no version');
        return view;
      });
      times.push(cpuNow());
      for (const [index, client] of clients.entries()) {
        const view = views[index];
        if (view === undefined) continue;
        take(client, reduceProxy(client.state, { type: 'view', view }));
        if (!isFirst) continue;
        for (const type of xdsTypes) {
          const isAll = type === 'cluster' || type === 'listener';
          const named = isAll ? [] : [...view[type].resources.keys()];
          client.named.set(typeUrls[type], named);
          ask(client, typeUrls[type], '', named);
        }
        take(client, reduceProxy(client.state, { type: 'introduced' }));
      }
      times.push(cpuNow());
      sweep();
      const [begun = 0, built = 0, viewed = 0, answered = 0] = times;
      return {
        build: built - begun,
        views: viewed - built,
        answers: answered - viewed,
        all: answered - begun,
        ...counted,
      };
    },
  };
}

function cpuNow(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
