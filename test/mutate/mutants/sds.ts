import type { PlacedMutant } from '../mutant.ts';

export const sds: readonly PlacedMutant[] = [
  {
    id: 'sds/most-names',
    file: 'pilot-agent/secrets/sds/names-flaw.ts',
    find: 'if (count > mostNames) return',
    replace: 'if (count > mostNames * 10) return',
  },
  {
    id: 'sds/stale-nonce',
    file: 'pilot-agent/secrets/sds/secret-policy.ts',
    find: "staleNames: 'ignored'",
    replace: "staleNames: 'taken'",
  },
  {
    id: 'sds/one-in-flight',
    file: 'shared/xds/subscription-machine.ts',
    find: 'if (inFlight !== undefined) return unsent',
    replace: 'if (state.answers < 0) return unsent',
  },
  {
    id: 'sds/only-fresh',
    file: 'shared/xds/subscription-lack.ts',
    find: 'unanswered.has(name) || !policy.isSame(current, resource)',
    replace: 'unanswered.has(name)',
  },
  {
    id: 'sds/back-again',
    file: 'pilot-agent/secrets/sds/secret-policy.ts',
    find: 'all.size === names.size && claimed',
    replace: 'claimed',
  },
  {
    id: 'sds/declined-once',
    file: 'pilot-agent/secrets/sds/secret-policy.ts',
    find: '? previous === offered :',
    replace: '? false :',
  },
  {
    id: 'sds/kept-by-client',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: '?? clientSecrets.get(name) ??',
    replace: '??',
  },
  {
    id: 'sds/come-back-keeps',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: " || claimed !== ''",
    replace: '',
  },
  {
    id: 'sds/decline-no-news',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: 'if (secrets.size === 0) return [];',
    replace: '',
  },
];
