import { describe, it } from 'vitest';
import { asOneServer } from '../../src/pilot-agent/run/beside-envoy.ts';
import type { ServersSign } from '../../src/pilot-agent/run/state/view.ts';
import { marbles } from '../support/marbles/marbles.ts';

const signs: Record<string, ServersSign> = {
  b: { type: 'servers-listening' },
  f: { type: 'servers-failed', exit: 'unavailable', reason: 'the socket is in use' },
  g: { type: 'servers-failed', exit: 'unavailable', reason: 'the port is in use' },
  l: {
    type: 'servers-log',
    line: { level: 'info', event: 'sds.listening', msg: 'secrets are served' },
  },
  k: {
    type: 'servers-log',
    line: { level: 'info', event: 'sts.listening', msg: 'tokens are exchanged' },
  },
  m: { type: 'servers-measured', server: 'secrets', families: () => [] },
};

describe('the servers beside Envoy', () => {
  it(
    'listen once all of them do',
    marbles((m) => {
      const secrets$ = m.cold(' 1s b', signs);
      const tokens$ = m.cold('  3s b', signs);
      m.expectObservable(asOneServer([secrets$, tokens$]), '^ 10s !').toBe('3s b', signs);
      for (const { subscriptions } of [secrets$, tokens$])
        m.expectSubscriptions(subscriptions).toBe('^ 10s !');
    }),
  );

  it(
    'listen at once if none is asked for',
    marbles((m) => {
      const notAsked$ = m.cold('(b|)', signs);
      m.expectObservable(asOneServer([notAsked$, notAsked$])).toBe('(b|)', signs);
    }),
  );

  it(
    'tell what there is to log and to measure as it comes, before they listen and after',
    marbles((m) => {
      const secrets$ = m.cold(' m 999ms (lb) 1s m', signs);
      const tokens$ = m.cold('  2s (kb) 996ms k', signs);
      const expected = '        m 999ms l 999ms (kb) m 995ms k';
      m.expectObservable(asOneServer([secrets$, tokens$]), '^ 5s !').toBe(expected, signs);
    }),
  );

  it(
    'listen once, whatever often one of them does',
    marbles((m) => {
      const secrets$ = m.cold(' 1s b 999ms b 3s b', signs);
      const tokens$ = m.cold('  4s b 1s b', signs);
      m.expectObservable(asOneServer([secrets$, tokens$]), '^ 10s !').toBe('4s b', signs);
    }),
  );

  it.each([
    {
      id: 'before another listens',
      secrets: '500ms f',
      tokens: '2s b',
      expected: '500ms (f|)',
      unsub: '^ 499ms !',
    },
    {
      id: 'after another listens',
      secrets: '2s f',
      tokens: '500ms b',
      expected: '2s (f|)',
      unsub: '^ 1999ms !',
    },
    {
      id: 'as another does',
      secrets: '1s f',
      tokens: '1s g',
      expected: '1s (f|)',
      unsub: '^ 999ms !',
    },
  ])(
    'never listen when one cannot, $id: the first reason counts, and all are let go of',
    ({ secrets, tokens, expected, unsub }) => {
      marbles((m) => {
        const secrets$ = m.cold(secrets, signs);
        const tokens$ = m.cold(tokens, signs);
        m.expectObservable(asOneServer([secrets$, tokens$])).toBe(expected, signs);
        for (const { subscriptions } of [secrets$, tokens$])
          m.expectSubscriptions(subscriptions).toBe(unsub);
      })();
    },
  );
});
