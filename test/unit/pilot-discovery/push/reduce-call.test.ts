import { describe, expect, it } from 'vitest';
import {
  type CallEffect,
  type CallEvent,
  newCall,
  reduceCall,
} from '../../../../src/pilot-discovery/push/reduce-call.ts';
import type { TypedView } from '../../../../src/pilot-discovery/push/view.ts';
import type { EnvoyRequest } from '../../../../src/shared/xds/messages.ts';

const typeUrls = Array.from({ length: 12 }, (_, index) => `networking.istio.io/v1/Kind${index}`);

const request = (typeUrl: string): CallEvent => ({
  type: 'request',
  request: {
    ...{ typeUrl, nonce: '', refusal: undefined },
    node: {
      id: 'sidecar~1~a.b~c',
      metadata: { GENERATOR: 'api' },
    } as unknown as EnvoyRequest['node'],
    names: { kind: 'all', names: [], version: '' },
  },
});

const run = (events: readonly CallEvent[]): readonly CallEffect[] =>
  events.reduce<readonly [ReturnType<typeof newCall>, readonly CallEffect[]]>(
    ([state, effects], event) => {
      const [after, more] = reduceCall(state, event);
      return [after, [...effects, ...more]];
    },
    [newCall('state-of-the-world'), []],
  )[1];

describe('reduceCall', () => {
  it('lets a client have an unread answer of each type, however large they are', () => {
    const body = Buffer.alloc(3 << 20);
    const large: TypedView = {
      version: '1',
      resources: new Map([['ns/a', { name: 'ns/a', version: '1', body, keys: [] }]]),
    };
    const types = new Map(typeUrls.map((typeUrl) => [typeUrl, large]));
    const effects = run([
      ...typeUrls.map(request),
      { type: 'config', view: { snapshot: 1, types } },
    ]);
    expect(effects.filter(({ type }) => type === 'fault')).toEqual([]);
    expect(effects.filter(({ type }) => type === 'answer')).toHaveLength(typeUrls.length);
  });
});
