import { expect, it } from 'vitest';
import {
  noObjects,
  reduceObjects,
} from '../../../../../src/pilot-discovery/registry/kubernetes/objects-state.ts';
import type { FollowSign } from '../../../../../src/shared/kube/follow-state.ts';

type Kind = 'Pod' | 'Service';

const lost = (cause: 'no-answer' | 'failure', reason: string): FollowSign => ({
  type: 'lost',
  cause,
  reason,
  delayMs: 1_000,
});
const listed: FollowSign = { type: 'listed', objects: [] };
const current: FollowSign = { type: 'current' };

/** The reasons of losses after each sign; `synced` if the source is. */
function reported(...signs: readonly (readonly [Kind, FollowSign])[]): readonly string[] {
  let state = noObjects(['Pod', 'Service']);
  return signs.flatMap(([kind, sign]) => {
    const [next, events] = reduceObjects(
      state,
      { kind, sign },
      () => ({ resources: [], flaws: [], closing: [] }),
      'Kubernetes',
    );
    state = next;
    return events.map((event) => (event.type === 'lost' ? event.reason : event.type));
  });
}

const start = [
  ['Pod', listed],
  ['Service', listed],
] as const;

it('reports an API that cannot be reached once, whatever the kinds meet on the way', () => {
  expect(
    reported(
      ...start,
      ['Pod', lost('no-answer', 'socket hang up')],
      ['Service', lost('no-answer', 'connect ECONNREFUSED')],
      ['Pod', lost('no-answer', 'connect ECONNREFUSED')],
      ['Service', lost('failure', '500 it starts')],
      ['Service', current],
      ['Pod', current],
      ['Pod', lost('no-answer', 'connect ECONNREFUSED')],
    ),
  ).toEqual(['synced', 'socket hang up', 'synced', 'connect ECONNREFUSED']);
});

it('reports a refusal after it, when the API answers for each kind', () => {
  expect(
    reported(
      ...start,
      ['Pod', lost('no-answer', 'connect ECONNREFUSED')],
      ['Service', lost('no-answer', 'connect ECONNREFUSED')],
      ['Pod', lost('failure', 'pods is forbidden')],
      ['Service', current],
      ['Pod', current],
    ),
  ).toEqual(['synced', 'connect ECONNREFUSED', 'pods is forbidden', 'synced']);
});
