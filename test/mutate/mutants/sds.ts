import type { Mutant } from '../mutant.ts';

export const sds: readonly Mutant[] = [
  {
    id: 'sds/most-names',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: 'if (count > mostNames) return',
    replace: 'if (count > mostNames * 10) return',
  },
  {
    id: 'sds/stale-nonce',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: 'if (isStale) return',
    replace: 'if (!isStale) return',
  },
  {
    id: 'sds/one-in-flight',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: 'if (state.inFlight !== undefined) return [state, effects];',
    replace: '',
  },
  {
    id: 'sds/only-fresh',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: 'state.subscribed.get(name) !== version',
    replace: 'state.subscribed.has(name)',
  },
  {
    id: 'sds/back-again',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: 'isComplete && state.claimed === version',
    replace: 'state.claimed === version',
  },
  {
    id: 'sds/declined-once',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: 'mayHaveIt || state.absent.has(name)',
    replace: 'mayHaveIt',
  },
  {
    id: 'sds/kept-by-client',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: "state.subscribed.get(name) !== undefined || state.claimed !== ''",
    replace: "state.claimed !== ''",
  },
  {
    id: 'sds/come-back-keeps',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: " || state.claimed !== '';",
    replace: ';',
  },
  {
    id: 'sds/decline-no-news',
    file: 'pilot-agent/secrets/sds/stream.ts',
    find: 'if (versions !== undefined) effects',
    replace: 'effects',
  },
];
