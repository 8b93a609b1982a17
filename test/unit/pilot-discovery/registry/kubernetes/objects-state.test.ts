import { expect, it } from 'vitest';
import {
  noObjects,
  reduceObjects,
} from '../../../../../src/pilot-discovery/registry/kubernetes/objects-state.ts';
import type { FollowSign, FollowFailure } from '../../../../../src/shared/kube/follow-state.ts';

type Kind = 'Pod' | 'Service';

const lost = (cause: FollowFailure, reason: string): FollowSign => ({
  type: 'lost',
  cause,
  reason,
  delayMs: 1_000,
});
const listed: FollowSign = { type: 'listed', objects: [] };
const current: FollowSign = { type: 'current' };

/** Returns the reasons of losses after each sign; in brackets if the log has no line about it. */
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
    return events.map((event) => {
      if (event.type === 'lost') return event.reason;
      return event.type === 'still-lost' ? `(${event.reason})` : event.type;
    });
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
      ['Service', lost(500, '500 it starts')],
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
      ['Pod', lost(403, 'pods is forbidden')],
      ['Service', current],
      ['Pod', current],
    ),
  ).toEqual(['synced', 'connect ECONNREFUSED', 'pods is forbidden', 'synced']);
});

it('reports refusals when the API has answered about each kind', () => {
  expect(
    reported(
      ['Pod', lost(403, 'pods is forbidden')],
      ['Service', lost(403, 'services is forbidden')],
      ['Service', listed],
      ['Service', current],
      ['Pod', listed],
      ['Pod', current],
    ),
  ).toEqual(['pods is forbidden; services is forbidden', '(pods is forbidden)', 'synced']);
});

it('reports a status once, until all objects are current', () => {
  expect(
    reported(
      ...start,
      ['Pod', lost(401, 'the token has expired')],
      ['Service', lost(401, 'services: the token has expired')],
      ['Service', lost(500, 'it starts')],
      ['Service', lost(401, 'services: the token has expired')],
      ['Service', current],
      ['Pod', current],
      ['Pod', lost(401, 'the token has expired')],
    ),
  ).toEqual([
    'synced',
    'the token has expired',
    '(services: the token has expired; the token has expired)',
    'it starts; the token has expired',
    '(services: the token has expired; the token has expired)',
    '(the token has expired)',
    'synced',
    'the token has expired',
  ]);
});

it('reports refusals again after the API could not be reached', () => {
  expect(
    reported(
      ...start,
      ['Pod', lost(403, 'pods is forbidden')],
      ['Pod', lost('no-answer', 'connect ECONNREFUSED')],
      ['Service', lost('no-answer', 'connect ECONNREFUSED')],
      ['Pod', lost(403, 'pods is forbidden')],
      ['Service', current],
    ),
  ).toEqual(['synced', 'pods is forbidden', 'connect ECONNREFUSED', 'pods is forbidden']);
});
