import { defer, ignoreElements, merge, Subject } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { showWaiting, type WaitingFor } from '../../src/pilot-agent/cli/waiting.ts';
import { marbles } from '../support/marbles/marbles.ts';

const answers: Record<string, string | undefined> = {
  r: undefined,
  x: 'refused',
  y: 'it answers 503:\n starting\n',
};
const clear = '\r\u001b[K';
const limit = 60_000;

interface Look {
  readonly waiting?: Partial<WaitingFor>;
  /** The columns of the terminal; left out if the output is not a terminal. */
  readonly columns?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly reasons?: Record<string, string | undefined>;
}

/** Emits what is written while the answers come. */
function written(
  m: RunHelpers,
  diagram: string,
  { waiting = {}, columns, env = {}, reasons = answers }: Look = {},
) {
  return defer(() => {
    const texts$ = new Subject<string>();
    const target = {
      ...(columns !== undefined && { isTTY: true, columns }),
      write: (text: string) => texts$.next(text),
    };
    const answers$ = m.cold(diagram, reasons, new Error('two agents run here'));
    return merge(
      texts$,
      answers$.pipe(
        showWaiting({ what: 'the proxy', limit, ...waiting }, target, env),
        ignoreElements(),
      ),
    );
  });
}

describe('what is waited for', () => {
  it(
    'passes all answers on at once, and asks for them once',
    marbles((m) => {
      const answers$ = m.cold('x 499ms y 499ms (r|)', answers);
      const target = { isTTY: true, columns: 80, write: () => true };
      m.expectObservable(answers$.pipe(showWaiting({ what: 'the proxy', limit }, target, {}))).toBe(
        'x 499ms y 499ms (r|)',
        answers,
      );
      m.expectSubscriptions(answers$.subscriptions).toBe('^ 999ms !');
    }),
  );

  describe('on a pipe', () => {
    const [a, b] = [
      'pilot-agent: waiting for the proxy: refused\n',
      'pilot-agent: waiting for the proxy: it answers 503: starting\n',
    ];
    const end = (seconds: string) => `pilot-agent: the proxy is ready after ${seconds} s\n`;

    it(
      'is a line for each reason that differs from the one before, and the end',
      marbles((m) => {
        const input = '    x 499ms x 499ms y 499ms y 499ms x 499ms (r|)';
        const expected = ' a 999ms b 999ms            c 499ms d';
        m.expectObservable(written(m, input)).toBe(expected, { a, b, c: a, d: end('2.5') });
      }),
    );

    it.each<[what: string, input: string, look: Look]>([
      ['what is ready at once', '3s (r|)', {}],
      ['a single question', '(x|)', { waiting: { limit: 0 } }],
      ['one who wants quiet', 'x 499ms y 499ms (r|)', { waiting: { quiet: true } }],
    ])('is nothing for %s', (_, input, look) => {
      marbles((m) => {
        m.expectObservable(written(m, input, look), '^ 10s !').toBe('-');
      })();
    });

    it(
      'does not tell the end of what is not ready: the error does',
      marbles((m) => {
        m.expectObservable(written(m, 'x 499ms (x|)'), '^ 10s !').toBe('a', { a });
        m.expectObservable(written(m, 'x 499ms #'), '^ 10s !').toBe(
          'a 499ms #',
          { a },
          new Error('two agents run here'),
        );
      }),
    );

    it(
      'is that of a dumb terminal too',
      marbles((m) => {
        m.expectObservable(written(m, 'x 499ms (r|)', { columns: 80, env: { TERM: 'dumb' } })).toBe(
          'a 499ms b',
          { a, b: end('0.5') },
        );
      }),
    );

    it(
      'has nothing in it that a terminal would act on',
      marbles((m) => {
        const reasons = { e: 'it answers 503: \u001b[2J\u202e\u0007', r: undefined };
        const a = 'pilot-agent: waiting for the proxy: it answers 503: \\x1b[2J\\u202e\\x07\n';
        m.expectObservable(written(m, 'e', { reasons })).toBe('a', { a });
      }),
    );
  });

  describe('on a terminal', () => {
    const line = (seconds: number, reason = '') =>
      `${clear}waiting ${seconds} of 60 s for the proxy${reason}`;
    const look = { columns: 80 };

    it(
      'is one line, written anew for each answer and each second, and gone at the end',
      marbles((m) => {
        const input = '    x 499ms y            1699ms       (r|)';
        const expected = ' a 499ms b 999ms        c 699ms d';
        const texts = {
          a: line(0, ': refused'),
          b: line(0, ': it answers 503: starting'),
          c: line(1, ': it answers 503: starting'),
          d: `${clear}pilot-agent: the proxy is ready after 2.2 s\n`,
        };
        m.expectObservable(written(m, input, look)).toBe(expected, texts);
      }),
    );

    it(
      'is there after a second without an answer, and not before',
      marbles((m) => {
        m.expectObservable(written(m, '999ms (r|)', look), '^ 10s !').toBe('-');
        const texts = {
          a: line(1),
          b: line(2),
          c: `${clear}pilot-agent: the proxy is ready after 2.5 s\n`,
        };
        m.expectObservable(written(m, '2500ms (r|)', look)).toBe('1s a 999ms b 499ms c', texts);
      }),
    );

    it(
      'is gone before the error is told',
      marbles((m) => {
        m.expectObservable(written(m, 'x 499ms (x|)', look)).toBe('a 499ms b', {
          a: line(0, ': refused'),
          b: clear,
        });
        const error = new Error('two agents run here');
        m.expectObservable(written(m, 'x 499ms #', look)).toBe(
          'a 499ms (b#)',
          { a: line(0, ': refused'), b: clear },
          error,
        );
      }),
    );

    it.each([
      { columns: 60, shown: 'waiting 0 of 60 s for the proxy: http://… 503: not yet 日本' },
      { columns: 30, shown: 'waiting 0 of 60 s for the…本' },
      { columns: 10, shown: 'waiting 0' },
    ])('fits into $columns columns: begin and end of the reason stay', ({ columns, shown }) => {
      marbles((m) => {
        const reasons = { l: 'http://localhost:15020/healthz/ready: it answers 503: not yet 日本' };
        m.expectObservable(written(m, 'l', { columns, reasons }), '^ 500ms !').toBe('a', {
          a: clear + shown,
        });
      })();
      expect(stringWidth(shown)).toBeLessThan(columns);
    });
  });
});
