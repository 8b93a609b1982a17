import {
  newProxyStream,
  type ProxyEffect,
  type ProxyStream,
} from '../../src/pilot-discovery/push/proxy-stream.ts';
import { reduceProxy } from '../../src/pilot-discovery/push/reduce-proxy.ts';
import {
  typeUrls,
  type View,
  type XdsType,
  xdsTypes,
} from '../../src/pilot-discovery/push/view.ts';
import type { EnvoyRequest } from '../../src/shared/xds/messages.ts';

const node = { id: 'sidecar~10.0.0.1~a.b~c' } as NonNullable<EnvoyRequest['node']>;

interface Pushed {
  readonly type: XdsType;
  readonly name: string;
}

/**
 * Returns the resources that are pushed to a proxy when its view changes: each whose version
 * differs from the one that the proxy had, and each that is removed. The proxy uses incremental
 * xDS, has everything of the view before, and ACKs every answer.
 */
export function pushedTo(before: View, after: View): readonly Pushed[] {
  const had = new Map<string, string>();
  const pushed = new Map<string, Pushed>();
  let state: ProxyStream = newProxyStream('delta');
  const ask = (typeUrl: string, nonce: string, add: readonly string[]): void => {
    const names = { kind: 'change', add, remove: [], versions: {} } as const;
    const request = { node, typeUrl, nonce, refusal: undefined, names };
    take(reduceProxy(state, { type: 'request', request }));
  };
  const take = ([next, effects]: readonly [ProxyStream, readonly ProxyEffect[]]): void => {
    state = next;
    for (const effect of effects) {
      if (effect.type !== 'answer') continue;
      const { typeUrl, nonce, resources, removed } = effect.answer;
      const type = xdsTypes.find((candidate) => typeUrls[candidate] === typeUrl) ?? 'cluster';
      for (const { name, version } of resources) {
        const key = `${type} ${name}`;
        if (had.get(key) !== version) pushed.set(key, { type, name });
        had.set(key, version);
      }
      for (const name of removed) {
        const key = `${type} ${name}`;
        if (had.delete(key)) pushed.set(key, { type, name });
      }
      ask(typeUrl, nonce, []);
    }
  };
  take(reduceProxy(state, { type: 'view', view: before }));
  for (const type of xdsTypes) {
    const all = new Set([...before[type].resources.keys(), ...after[type].resources.keys()]);
    ask(typeUrls[type], '', type === 'cluster' || type === 'listener' ? [] : [...all]);
  }
  take(reduceProxy(state, { type: 'introduced' }));
  pushed.clear();
  take(reduceProxy(state, { type: 'view', view: after }));
  take(reduceProxy(state, { type: 'warmed' }));
  return [...pushed.values()];
}
