import type { PlacedMutant } from '../mutant.ts';

export const refusal: readonly PlacedMutant[] = [
  {
    id: 'refusal/lowest-layer',
    file: 'pilot-agent/envoy/find-field.ts',
    find: 'const spot = from.at(-1);',
    replace: 'const spot = from[0];',
  },
  {
    id: 'refusal/secret-shown',
    file: 'pilot-agent/envoy/excerpt.ts',
    find: 'hidden.test(whole) ||',
    replace: '',
  },
  {
    id: 'refusal/by-chance',
    file: 'pilot-agent/envoy/refusal-words.ts',
    find: "path: path.replace(/\\.?[^.]+$/, '')",
    replace: 'path',
  },
  {
    id: 'refusal/rank',
    file: 'pilot-agent/envoy/template-line.ts',
    find: 'alike[Math.min(rank, alike.length - 1)]',
    replace: 'alike[0]',
  },
  {
    id: 'refusal/configuration-told',
    file: 'shared/log/envoy-refusal.ts',
    find: 'reason.slice(start)',
    replace: 'reason',
  },
];
