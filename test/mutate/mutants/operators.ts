import type { PlacedMutant } from '../mutant.ts';

export const operators: readonly PlacedMutant[] = [
  {
    id: 'operators/attentive-steps',
    file: 'operators/attentive-timer.ts',
    find: 'Math.max(fewestSteps, Math.ceil(delay / longestStep))',
    replace: '1',
  },
  {
    id: 'operators/events-queued',
    file: 'operators/reduce-with-effects.ts',
    find: 'observeOn(queueScheduler), share()',
    replace: 'share()',
  },
  {
    id: 'operators/steps-shared',
    file: 'operators/reduce-with-effects.ts',
    find: '}).pipe(share());',
    replace: '});',
  },
  {
    id: 'operators/state-kept',
    file: 'operators/reduce-with-effects.ts',
    find: 'before = state;',
    replace: '',
  },
  {
    id: 'operators/effects-torn-down',
    file: 'operators/reduce-with-effects.ts',
    find: 'subscriber.add(source.subscribe(feed));',
    replace: 'source.subscribe(feed);',
  },
  {
    id: 'operators/poll-limit',
    file: 'operators/poll-until.ts',
    find: 'scheduler.now() >= end',
    replace: 'scheduler.now() > end',
  },
  {
    id: 'operators/poll-last',
    file: 'operators/poll-until.ts',
    find: '!isEnough(value), true',
    replace: '!isEnough(value)',
  },
  {
    id: 'operators/supervise-growth',
    file: 'operators/supervise.ts',
    find: 'failures++',
    replace: 'failures',
  },
  {
    id: 'operators/supervise-reset',
    file: 'operators/supervise.ts',
    find: '>= stable',
    replace: '> stable',
  },
  {
    id: 'operators/supervise-error-told',
    file: 'operators/supervise.ts',
    find: 'failed(result.error, delay)',
    replace: 'failed(undefined, delay)',
  },
  {
    id: 'operators/settle-failure',
    file: 'operators/settle.ts',
    find: '{ ok: false, error }',
    replace: '{ ok: false, error: undefined }',
  },
];
