import type { PlacedMutant } from '../mutant.ts';

export const xds: readonly PlacedMutant[] = [
  {
    id: 'xds/store-sum',
    file: 'pilot-agent/xds-proxy/store.ts',
    find: '!sumOf(message).equals(bytes.subarray(0, sumLength))',
    replace: 'false',
  },
  {
    id: 'xds/store-node',
    file: 'pilot-agent/xds-proxy/store.ts',
    find: 'read.nodeId !== nodeId',
    replace: 'false',
  },
  {
    id: 'xds/store-too-large',
    file: 'pilot-agent/xds-proxy/store.ts',
    find: 'remove(path);',
    replace: '',
  },
  {
    id: 'xds/waits-for-dependents',
    file: 'pilot-agent/xds-proxy/push-resources.ts',
    find: 'changed.length === 0 ? stream',
    replace: 'changed.length >= 0 ? stream',
  },
  {
    id: 'xds/asked-again',
    file: 'shared/xds/subscription-names.ts',
    find: 'const unanswered = changed(before.unanswered, added, removed);',
    replace: 'const unanswered = new Set(before.unanswered);',
  },
  {
    id: 'xds/stale-nonce',
    file: 'pilot-agent/xds-proxy/envoy-policy.ts',
    find: "staleNames: 'ignored in flight'",
    replace: "staleNames: 'taken'",
  },
  {
    id: 'xds/gone-once',
    file: 'shared/xds/subscription-machine.ts',
    find: 'for (const name of choice.removed) clientResources.delete(name);',
    replace: '',
  },
  {
    id: 'xds/own-versions',
    file: 'pilot-agent/xds-proxy/resource-origins.ts',
    find: "const isNew = comes === 'empty-handed' && (",
    replace: 'const isNew = (',
  },
  {
    id: 'xds/nacked-whole',
    file: 'shared/xds/subscription-lack.ts',
    find: 'changed.size + gone.length === refused.size &&',
    replace: '',
  },
  {
    id: 'xds/store-first',
    file: 'pilot-agent/xds-proxy/envoy-policy.ts',
    find: "? 'more' : 'nothing'",
    replace: "? 'nothing' : 'nothing'",
  },
  {
    id: 'xds/same-words',
    file: 'shared/grpc/trouble.ts',
    find: String.raw`(?: \(\d[^()]*Z\))?`,
    replace: '',
  },
  {
    id: 'xds/silence',
    file: 'shared/xds/ads-link.ts',
    find: "type === 'answered' || type === 'lost'",
    replace: "type === 'lost'",
  },
];
