import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import { debugAnswers } from '../../src/debug/debug-answers.ts';
import { discoveryFamilies } from '../../src/debug/discovery-families.ts';
import type { DiscoveryView } from '../../src/debug/discovery-view.ts';
import type { DiscoveryEvent } from '../../src/discovery/discovery-event.ts';
import { foldView, freshView } from '../../src/discovery/fold-view.ts';
import { narrateDiscovery } from '../../src/discovery/narrate-discovery.ts';
import { defaultMeshConfig } from '../../src/mesh/mesh-config.ts';
import { NodeSchema } from '../../src/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { typeUrls } from '../../src/push/view.ts';
import { emptyStore } from '../../src/store/store.ts';
import { environmentOf } from '../support/generated.ts';

const store = emptyStore(['files'], defaultMeshConfig);
const node = create(NodeSchema, {
  id: 'sidecar~10.0.0.1~app-0.default~c',
  metadata: { ISTIO_VERSION: '1.26.0', CLUSTER_ID: 'Kubernetes' },
});
const built = (number: number, changedAt: number, builtAt: number): DiscoveryEvent => ({
  type: 'built',
  snapshot: { number, store, environment: environmentOf(''), changes: { class: 'config', keys: new Set(['VirtualService/default/a']) }, changedAt, builtAt }, // prettier-ignore
});
const of = { connection: 7, typeUrl: typeUrls.route } as const;
const answered = (nonce: string, snapshot: number): DiscoveryEvent => ({ type: 'answered', ...of, nonce, snapshot, version: 'v', resources: 2, bytes: 100 }); // prettier-ignore
const connected: DiscoveryEvent = { type: 'connected', connection: 7, node, variant: 'delta', address: '10.0.0.1:5' };
const rejected: DiscoveryEvent = { type: 'rejected', ...of, nonce: 'n2', reason: 'no', names: ['80'], keys: ['VirtualService/default/a'] };

const after = (...events: readonly (readonly [DiscoveryEvent, number])[]): DiscoveryView =>
  events.reduce((view, [event, now]) => foldView(view, event, now), freshView);
const value = (view: DiscoveryView, name: string, suffix = '', labels: Readonly<Record<string, string>> = {}) =>
  discoveryFamilies(view, '1').find((family) => family.name === name)?.samples.find((sample) => (sample.suffix ?? '') === suffix && Object.entries(labels).every(([key, said]) => sample.labels?.[key] === said))?.value; // prettier-ignore
const statusOf = (view: DiscoveryView, now: number) =>
  (debugAnswers['/debug/syncz']?.(view, now) as readonly { readonly resources: Readonly<Record<string, { readonly status: string }>> }[])[0]?.resources[typeUrls.route]?.status; // prettier-ignore

describe('what the control plane says of itself', () => {
  it('has proxies, answers and refusals, by the names of istiod', () => {
    const view = after([connected, 0], [answered('n1', 1), 5], [{ type: 'accepted', ...of, nonce: 'n1', snapshot: 1 }, 6], [answered('n2', 2), 7], [rejected, 8]); // prettier-ignore
    expect(value(view, 'pilot_xds', '', { version: '1.26.0' })).toBe(1);
    expect(value(view, 'pilot_xds_pushes', '', { type: 'rds' })).toBe(2);
    expect(value(view, 'pilot_xds_rds_reject')).toBe(1);
    expect(value(view, 'pilot_total_xds_rejects')).toBe(1);
    expect(value(foldView(view, { type: 'disconnected', connection: 7 }, 9), 'pilot_xds', '', { version: '1.26.0' })).toBeUndefined();
  });

  it('has how long changes take until a snapshot, an answer, and until they are accepted, without the first one', () => {
    const start = after([built(1, 0, 900), 900], [connected, 1_000], [answered('n1', 1), 1_000]);
    expect(value(start, 'pilot_proxy_convergence_time', '_count')).toBe(0);
    const view = [[built(2, 2_000, 2_150), 2_150], [answered('n2', 2), 2_200], [{ type: 'accepted', ...of, nonce: 'n2', snapshot: 2 }, 2_300] ] as const; // prettier-ignore
    const told = view.reduce((before, [event, now]) => foldView(before, event, now), start);
    expect(value(told, 'pilot_debounce_time', '_sum')).toBeCloseTo(0.15);
    expect(value(told, 'pilot_proxy_convergence_time', '_sum')).toBeCloseTo(0.2);
    expect(value(told, 'pilot_change_to_acked_seconds', '_sum')).toBeCloseTo(0.3);
    expect(value(told, 'pilot_push_triggers', '', { type: 'config' })).toBe(1);
  });

  it('says of each proxy whether it has what it was given', () => {
    const sent = after([connected, 0], [answered('n1', 1), 0]);
    expect(statusOf(sent, 1_000)).toBe('SENT');
    expect(statusOf(sent, 30_001)).toBe('STALE');
    const accepted = foldView(sent, { type: 'accepted', ...of, nonce: 'n1', snapshot: 1 }, 2);
    expect(statusOf(accepted, 40_000)).toBe('SYNCED');
    expect(statusOf(foldView(foldView(accepted, answered('n2', 2), 3), rejected, 4), 5)).toBe('REFUSED');
  });

  it('tells in the log what was rejected and what it is made of', () => {
    const view = after([connected, 0], [answered('n2', 2), 1]);
    expect(narrateDiscovery(view, rejected, 0, 2)).toMatchObject([
      {
        level: 'error',
        event: 'discovery.rejected',
        nodeId: node.id,
        type: 'rds',
        names: ['80'],
        madeOf: ['VirtualService/default/a'],
        reason: 'no',
      },
    ]);
  });
});
