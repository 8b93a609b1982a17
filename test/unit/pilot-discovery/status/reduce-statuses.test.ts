import { describe, expect, it } from 'vitest';
import type { KubeFailure } from '../../../../src/shared/kube/failure.ts';
import {
  nothingWritten,
  reduceStatuses,
  statusPauses,
  type StatusesEffect,
  type StatusesEvent,
  type StatusesState,
  statusText,
} from '../../../../src/pilot-discovery/status/reduce-statuses.ts';
import type { ValidationMessage } from '../../../../src/pilot-discovery/status/validation-messages.ts';

type Objects = Extract<StatusesEvent, { readonly type: 'objects' }>;

const message: ValidationMessage = {
  documentationUrl: 'u',
  level: 'ERROR',
  type: { code: 'IST0101', name: 'host: it does not exist' },
};
const [route, other, entry] = [
  'VirtualService/a/one',
  'VirtualService/a/two',
  'ServiceEntry/a/one',
] as const;
const object = (key: string, more: { readonly status?: string; readonly version?: string } = {}) =>
  ({ version: '7', path: `/${key}/status`, generation: 3, status: '', ...more }) as const;
const listed = (keys: readonly string[], more = {}): Objects => ({
  type: 'objects',
  kind: keys[0] === entry ? 'ServiceEntry' : 'VirtualService',
  scope: 'all',
  objects: new Map(keys.map((key) => [key, object(key, more)])),
  now: 0,
});
const analyzed = (
  keys: readonly string[],
  messages: readonly ValidationMessage[] = [],
  now: number = statusPauses.analysisLag,
): StatusesEvent => ({
  type: 'analyzed',
  messages: new Map(keys.map((key) => [key, messages])),
  now,
});
const due: StatusesEvent = { type: 'due' };
const written = (failure?: Partial<KubeFailure>): StatusesEvent => ({
  type: 'written',
  failure: failure && { reason: 'no', status: undefined, pause: 0, ...failure },
});

/** Returns the effects and the news of each event. */
function run(...events: readonly StatusesEvent[]) {
  let state: StatusesState = nothingWritten;
  return events.map((event) => {
    const [after, effects] = reduceStatuses(state, event);
    state = after;
    return { effects: effects.map(textOf), news: state.news };
  });
}
const textOf = (effect: StatusesEffect): string =>
  effect.type === 'write' ? `write ${effect.path}` : `wait ${effect.pause}`;
const effectsOf = (...events: readonly StatusesEvent[]) =>
  run(...events).map(({ effects }) => effects.join(', '));

describe('reduceStatuses', () => {
  it('writes one status after another, and waits after each', () => {
    expect(
      effectsOf(listed([route, other]), analyzed([route, other]), written(), due, written(), due),
    ).toEqual(['', `write /${route}/status`, 'wait 200', `write /${other}/status`, 'wait 200', '']);
  });

  it('writes the version of the object, its generation, and the messages; null for none', () => {
    const bodyFor = (messages: readonly ValidationMessage[]) => {
      const [state] = reduceStatuses(nothingWritten, listed([route]));
      const [, [effect]] = reduceStatuses(state, analyzed([route], messages));
      return JSON.parse(effect?.type === 'write' ? effect.body : '{}') as unknown;
    };
    expect(bodyFor([message])).toEqual({
      metadata: { resourceVersion: '7' },
      status: { observedGeneration: '3', validationMessages: [message] },
    });
    expect(bodyFor([])).toMatchObject({ status: { validationMessages: null } });
  });

  it('goes on writing if the clock is set back by an hour', () => {
    expect(effectsOf(listed([route]), analyzed([route], [], -3_600_000))).toEqual([
      '',
      `write /${route}/status`,
    ]);
  });

  it('writes nothing if the status is right, or if the analysis may not know the object yet', () => {
    expect(
      effectsOf(
        listed([route], { status: statusText(3, [message]) }),
        analyzed([route], [message]),
      ),
    ).toEqual(['', '']);
    expect(effectsOf(listed([route]), analyzed([route], [], statusPauses.analysisLag - 1))).toEqual(
      ['', ''],
    );
    expect(effectsOf(listed([route]), analyzed([other]))).toEqual(['', '']);
  });

  it('starts no write because the API reports its own', () => {
    const status = statusText(3, []);
    expect(
      effectsOf(
        listed([route]),
        analyzed([route]),
        listed([route], { status, version: '8' }),
        written(),
        due,
        analyzed([route]),
      ).slice(2),
    ).toEqual(['', 'wait 200', '', '']);
  });

  it('leaves a status alone that another program changes again and again, until it differs', () => {
    const repair = [analyzed([route]), written(), due];
    const steps = run(listed([route]), ...Array.from({ length: 6 }, () => repair).flat());
    expect(steps.flatMap(({ effects }) => effects.filter((text) => text.startsWith('w')))).toEqual(
      Array.from({ length: 4 }, () => [`write /${route}/status`, 'wait 200']).flat(),
    );
    expect(steps.flatMap(({ news }) => news)).toEqual([{ type: 'contested', key: route }]);
    expect(
      effectsOf(
        listed([route]),
        ...Array.from({ length: 6 }, () => repair).flat(),
        analyzed([route], [message]),
      ).at(-1),
    ).toBe(`write /${route}/status`);
  });

  it('goes on with other kinds if a right is missing, and reports it once for each kind', () => {
    const steps = run(
      listed([route, other]),
      listed([entry]),
      analyzed([route, other, entry]),
      written({ status: 403, reason: 'forbidden' }),
      due,
      written(),
      due,
      analyzed([route, other]),
      written({ status: 403, reason: 'forbidden' }),
    );
    expect(steps.map(({ effects }) => effects.join(', ')).slice(2)).toEqual([
      `write /${route}/status`,
      'wait 200',
      `write /${entry}/status`,
      'wait 200',
      '',
      `write /${route}/status`,
      'wait 200',
    ]);
    expect(steps.flatMap(({ news }) => news)).toEqual([{ type: 'refused', reason: 'forbidden' }]);
  });

  it('waits longer and longer if the API is busy or away, and as long as the API asks for', () => {
    const both = analyzed([route, other, entry]);
    expect(
      effectsOf(
        listed([route, other]),
        listed([entry]),
        both,
        written({}),
        due,
        written({ status: 500 }),
        both,
        due,
        written({ status: 429, pause: 9_000 }),
        due,
        written(),
      ).slice(3),
    ).toEqual([
      'wait 1000',
      `write /${other}/status`,
      'wait 2000',
      '',
      `write /${route}/status`,
      'wait 9000',
      `write /${other}/status`,
      'wait 200',
    ]);
  });

  it('leaves an object that was changed or removed meanwhile to the next analysis', () => {
    for (const status of [404, 409, 422])
      expect(
        effectsOf(listed([route]), analyzed([route]), written({ status }), due, analyzed([route])),
      ).toEqual(['', `write /${route}/status`, 'wait 200', '', `write /${route}/status`]);
    expect(
      effectsOf(listed([route, other]), analyzed([route, other]), written(), listed([route]), due),
    ).toEqual(['', `write /${route}/status`, 'wait 200', '', '']);
  });

  it('skips tens of thousands of objects that are gone', () => {
    const keys = Array.from({ length: 30_000 }, (_, index) => `VirtualService/a/${index}`);
    const last = 'VirtualService/a/29999';
    expect(
      effectsOf(
        listed(keys),
        analyzed(keys),
        written({ status: 409 }),
        listed([last]),
        due,
        written({ status: 409 }),
        due,
      ).slice(3),
    ).toEqual(['', `write /${last}/status`, 'wait 200', '']);
  });
});
