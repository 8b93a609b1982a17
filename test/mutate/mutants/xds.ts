import type { Mutant } from '../mutant.ts';

export const xds: readonly Mutant[] = [
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
    file: 'pilot-agent/xds-proxy/subscription.ts',
    find: 'forgotten(answered, add)',
    replace: 'answered',
  },
  {
    id: 'xds/stale-nonce',
    file: 'pilot-agent/xds-proxy/subscription.ts',
    find: "names.kind === 'all' && nonce !== ''",
    replace: 'false',
  },
  {
    id: 'xds/gone-once',
    file: 'pilot-agent/xds-proxy/subscription.ts',
    find: "filter(([, next]) => next !== 'absent')",
    replace: 'filter(() => true)',
  },
  {
    id: 'xds/own-versions',
    file: 'pilot-agent/xds-proxy/subscription.ts',
    find: 'before.hasOwn ? undefined : sources.stored',
    replace: 'sources.stored',
  },
  {
    id: 'xds/same-words',
    file: 'shared/grpc/trouble.ts',
    find: String.raw`(?: \(\d[^()]*Z\))?`,
    replace: '',
  },
  {
    id: 'xds/silence',
    file: 'pilot-agent/xds-proxy/control-plane.ts',
    find: "type === 'updated' || type === 'lost'",
    replace: "type === 'lost'",
  },
];
