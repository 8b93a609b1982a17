import { map, NEVER, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import { followAgent } from '../../src/pilot-agent/page/follow-agent.ts';
import { type LiveEvent, liveEventOf } from '../../src/pilot-agent/report/live-events.ts';
import { serverSentEvents } from '../../src/shared/http/server-sent-events.ts';
import { marbles } from '../support/marbles/marbles.ts';

const log: LiveEvent = { event: 'log', data: [] };
const batches = [[log]];
const brief = () =>
  map(
    (message: { readonly type: string; readonly reason?: string }) =>
      message.reason ?? message.type,
  );

describe('the page follows an agent', () => {
  const words = {
    c: 'connected',
    t: 'live-event',
    g: 'The agent has closed the connection',
    s: 'The agent is silent',
    r: 'refused',
  };

  it(
    'says that it is connected, and each event',
    marbles((m) => {
      const connection$ = m.cold('-a---a', { a: batches[0] ?? [] });
      m.expectObservable(followAgent(() => connection$).pipe(brief()), '^------!').toBe(
        '-(ct)(ct)',
        words,
      );
    }),
  );

  it(
    'says that the agent is away when the connection ends, and asks again 1 s later',
    marbles((m) => {
      const connection$ = m.cold('a-|', { a: [] });
      m.expectObservable(followAgent(() => connection$).pipe(brief()), '^ 1500ms !').toBe(
        'c-g 999ms c-g',
        words,
      );
      m.expectSubscriptions(connection$.subscriptions).toBe(['^-!', '1002ms ^-!']);
    }),
  );

  it(
    'says why it is refused',
    marbles((m) => {
      const refused$ = throwError(() => new Error('refused'));
      m.expectObservable(followAgent(() => refused$).pipe(brief()), '^ 2500ms !').toBe(
        'r 999ms r 999ms r',
        words,
      );
    }),
  );

  it(
    'takes an agent for away that says nothing for 10 s',
    marbles((m) => {
      m.expectObservable(followAgent(() => NEVER).pipe(brief()), '^ 10500ms !').toBe(
        '10s s',
        words,
      );
    }),
  );

  it(
    'reads events wherever the stream is cut, and leaves out what it does not know',
    marbles((m) => {
      const pieces = {
        a: 'event: lo',
        b: 'g\ndata: []\n\n:\n\nevent: new\ndata: 1\n\neve',
        c: 'nt: log\ndata: []\n',
        d: '\n',
      };
      const read$ = m.cold('abcd', pieces).pipe(
        map((text) => Buffer.from(text)),
        serverSentEvents(),
        map((events) => events.flatMap(liveEventOf).length),
      );
      m.expectObservable(read$).toBe('0101', { 0: 0, 1: 1 });
    }),
  );
});
