import * as fc from 'fast-check';
import { from, NEVER, Subject, toArray, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type EnvoyLine, envoyLines } from '../../src/proxy/envoy-lines.ts';
import { marbles } from '../support/marbles/marbles.ts';

const header = (level = 'info', component = 'main') =>
  `2026-11-21T10:30:00.000001Z\t${level}\tenvoy ${component}\t`;
const line = (
  message: string,
  level: EnvoyLine['level'] = 'info',
  component = 'main',
): EnvoyLine => ({ level, component, message });
const stray = (message: string) => line(message, 'info', 'stderr');

/** Returns the messages of a text that comes in these pieces, all at one time, and then ends. */
const cut = (...pieces: readonly string[]): readonly EnvoyLine[] => {
  let lines: readonly EnvoyLine[] = [];
  from(pieces)
    .pipe(envoyLines(new VirtualTimeScheduler()), toArray())
    .subscribe({
      next: (all) => (lines = all),
      error: (error: unknown) => expect.unreachable(String(error)),
    });
  return lines;
};

describe('envoyLines', () => {
  it.each<{ what: string; text: string; lines: readonly EnvoyLine[] }>([
    { what: 'makes nothing of nothing', text: '', lines: [] },
    {
      what: 'reads a header',
      text: `${header('info', 'config')}all dependencies initialized\n`,
      lines: [line('all dependencies initialized', 'info', 'config')],
    },
    { what: 'knows trace', text: `${header('trace')}m\n`, lines: [line('m', 'trace')] },
    { what: 'knows debug', text: `${header('debug')}m\n`, lines: [line('m', 'debug')] },
    { what: 'makes warn of warning', text: `${header('warning')}m\n`, lines: [line('m', 'warn')] },
    { what: 'knows error', text: `${header('error')}m\n`, lines: [line('m', 'error')] },
    {
      what: 'makes error of critical',
      text: `${header('critical')}m\n`,
      lines: [line('m', 'error')],
    },
    {
      what: 'takes a level that Envoy does not have for no header',
      text: `${header('loud')}m\n`,
      lines: [stray(`${header('loud')}m`)],
    },
    {
      what: 'takes what every object has for no level',
      text: `${header('constructor')}m\n`,
      lines: [stray(`${header('constructor')}m`)],
    },
    { what: 'keeps the tabs of a message', text: `${header()}a\tb\n`, lines: [line('a\tb')] },
    { what: 'takes a message that is empty', text: `${header()}\n`, lines: [line('')] },
    {
      what: 'ends a message when the next begins',
      text: `${header()}a\n${header()}b\n`,
      lines: [line('a'), line('b')],
    },
    {
      what: 'keeps a trace together',
      text: `${header('critical')}Caught\n#0: x\n\n#1: y\n${header()}b\n`,
      lines: [line('Caught\n#0: x\n\n#1: y', 'error'), line('b')],
    },
    {
      what: 'passes on what has no header',
      text: 'libc: bad\n  at x\n',
      lines: [stray('libc: bad\n  at x')],
    },
    { what: 'has no word for empty lines', text: '\n\n', lines: [] },
    { what: 'has the last line without its break', text: `${header()}a`, lines: [line('a')] },
    {
      what: 'sets lines of an access log apart, from messages and from each other',
      text: `${header()}a\n[2026-11-21T10:30:00.000Z] "GET / HTTP/1.1" 200\n[2026-11-21T10:30:01.000Z] "GET / HTTP/1.1" 503\n${header()}b\n`,
      lines: [
        line('a'),
        stray('[2026-11-21T10:30:00.000Z] "GET / HTTP/1.1" 200'),
        stray('[2026-11-21T10:30:01.000Z] "GET / HTTP/1.1" 503'),
        line('b'),
      ],
    },
    {
      what: 'tells a refusal of the configuration for debug, without the configuration',
      text: `${header('critical')}error initializing configuration 'a.json': Unable to parse JSON as proto (no: x): {\n{"key":"hush"}\n}\n${header()}exiting\n`,
      lines: [
        line('error initializing configuration: Unable to parse JSON as proto (no: x)', 'debug'),
        line('exiting'),
      ],
    },
    {
      what: 'has no word for what follows a refusal without a header',
      text: `${header('critical')}error \`no a\` initializing config 'a.json'\n${header()}exiting\nkey: hush\n no a\n`,
      lines: [line('error initializing configuration: no a', 'debug'), line('exiting')],
    },
    {
      what: 'sets lines of a JSON access log apart',
      text: `${header()}a\n{"path":"/"}\n{"path":"/b"}\n`,
      lines: [line('a'), stray('{"path":"/"}'), stray('{"path":"/b"}')],
    },
    {
      what: 'keeps a dump that only begins like JSON with its message',
      text: `${header()}a\n{"x":\n1}\n`,
      lines: [line('a\n{"x":\n1}')],
    },
  ])('$what', ({ text, lines }) => {
    expect(cut(text)).toEqual(lines);
  });

  const part = fc.oneof(
    fc
      .tuple(
        fc.constantFrom('trace', 'debug', 'info', 'warning', 'error', 'critical', 'loud'),
        fc.string(),
      )
      .map(([level, text]) => header(level) + text),
    fc.constantFrom(
      '',
      '  at x',
      '[2026-11-21T10:30:00.000Z] "GET / HTTP/1.1" 200',
      '{"path":"/"}',
      header().slice(0, 20),
    ),
    fc.string(),
  );
  const text = fc
    .tuple(fc.array(part), fc.constantFrom('', '\n'))
    .map(([parts, end]) => parts.join('\n') + end);

  it('finds the same messages wherever the text is cut, while it is never quiet', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 400 })), (whole, cuts) => {
        const places = [
          0,
          ...cuts.filter((place) => place < whole.length).sort((left, right) => left - right),
          whole.length,
        ];
        const pieces = places.slice(1).map((place, index) => whole.slice(places[index], place));
        expect(pieces.join('')).toBe(whole);
        expect(cut(...pieces)).toEqual(cut(whole));
      }),
    );
  });

  it('finds the same messages in single characters', () => {
    fc.assert(
      fc.property(text, (whole) => {
        expect(cut(...whole.split(/(?:)/u))).toEqual(cut(whole));
      }),
    );
  });

  it.each([
    { what: 'in one piece', size: Infinity },
    { what: 'in pieces of 64 KiB', size: 65_536 },
    { what: 'in pieces of 1,000 characters', size: 1_000 },
  ])('cuts a line of more than 64 KiB that comes $what, and loses none of it', ({ size }) => {
    const long = `${header()}${'x'.repeat(200_000)}`;
    const whole = `${long}\n${header()}b\n`;
    const pieces: string[] = [];
    for (let rest = whole; rest !== ''; rest = rest.slice(size)) pieces.push(rest.slice(0, size));
    const messages = cut(...pieces);
    expect(messages.at(-1)).toEqual(line('b'));
    const parts = messages.slice(0, -1).flatMap(({ message }) => message.split('\n'));
    expect(parts.join('')).toBe('x'.repeat(200_000));
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
  });

  it('keeps the reason of a refusal that has the configuration in 2,499 lines, and nothing of that', () => {
    const rows = Array.from({ length: 2_499 }, (_, index) => `key ${index}`);
    const refusal = cut(
      [
        `${header('critical')}error \`key a`,
        ...rows,
        ': Proto constraint validation failed (A: b)',
        '',
      ].join('\n'),
    );
    expect(refusal).toEqual([
      line('error initializing configuration: Proto constraint validation failed (A: b)', 'debug'),
    ]);
  });

  it('cuts a message of more than 1,000 lines, and loses none of it', () => {
    const rows = Array.from({ length: 2_499 }, (_, index) => `row ${index}`);
    const messages = cut([`${header('debug')}dump`, ...rows, ''].join('\n'));
    expect(messages.map(({ message }) => message.split('\n').length)).toEqual([1_000, 1_000, 500]);
    expect(messages.map(({ component }) => component)).toEqual(['main', 'stderr', 'stderr']);
    expect(messages.map(({ message }) => message).join('\n')).toBe(['dump', ...rows].join('\n'));
  });

  const pieces = {
    a: `${header()}a\n`,
    b: `${header()}b\n`,
    '1': `${header()}a\n#0`,
    '2': ': x\n#1: y\n',
    h: header().slice(0, 30),
    i: `${header().slice(30)}a\n`,
    x: `${header('critical')}error \`key: hu`,
    y: 'sh\n: Proto constraint validation failed (A: b)',
    z: "` initializing config 'a.json'\nkey: hush\n",
  };
  const lines = {
    a: line('a'),
    b: line('b'),
    t: line('a\n#0: x\n#1: y'),
    s: line('a\n#0'),
    r: stray(': x\n#1: y'),
    n: line('error initializing configuration: Proto constraint validation failed (A: b)', 'debug'),
  };

  it(
    'emits a message after 20 ms of quiet',
    marbles((m) => {
      const source$ = m.hot('a 49ms b', pieces);
      //                     [ 20ms ] [ 20ms ]
      const expected = '     20ms a 49ms b';
      m.expectObservable(source$.pipe(envoyLines()), '^ 200ms !').toBe(expected, lines);
    }),
  );

  it(
    'emits a message at once when the next one begins',
    marbles((m) => {
      const source$ = m.hot('a 4ms b', pieces);
      //                           [ 20ms ]
      const expected = '     5ms a 19ms b';
      m.expectObservable(source$.pipe(envoyLines()), '^ 200ms !').toBe(expected, lines);
    }),
  );

  it(
    'waits for the rest of a trace that is still coming, and 20 ms after it',
    marbles((m) => {
      const source$ = m.hot('1 14ms 2', pieces);
      //                            [ 20ms ]
      const expected = '     35ms t';
      m.expectObservable(source$.pipe(envoyLines()), '^ 200ms !').toBe(expected, lines);
    }),
  );

  it(
    'waits for the rest of a header that is still coming',
    marbles((m) => {
      const source$ = m.hot('h 18ms i', pieces);
      //                            [ 20ms ]
      const expected = '     39ms a';
      m.expectObservable(source$.pipe(envoyLines()), '^ 200ms !').toBe(expected, lines);
    }),
  );

  it(
    'does not wait for the rest of a line for longer than 20 ms',
    marbles((m) => {
      const source$ = m.hot('1 29ms 2', pieces);
      //                     [ 20ms ]
      //                            [ 20ms ]
      const expected = '     20ms s 29ms r';
      m.expectObservable(source$.pipe(envoyLines()), '^ 200ms !').toBe(expected, lines);
    }),
  );

  it(
    'waits for all of a refusal, however slowly it comes, since its reason is the end of it',
    marbles((m) => {
      const source$ = m.hot('x 49ms y 49ms z 49ms (b|)', pieces);
      const expected = '     150ms (nb|)';
      m.expectObservable(source$.pipe(envoyLines())).toBe(expected, lines);
    }),
  );

  it(
    'emits what it has before it completes',
    marbles((m) => {
      const source$ = m.hot('-a-|', pieces);
      const subs = '         ^--!';
      const expected = '     ---(a|)';
      m.expectObservable(source$.pipe(envoyLines())).toBe(expected, lines);
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    }),
  );

  it.each([
    { what: 'is silent with a silent source', diagram: '-', expected: '-', subs: '^' },
    { what: 'completes with an empty source', diagram: '---|', expected: '---|', subs: '^--!' },
    { what: 'passes on an error', diagram: '---#', expected: '---#', subs: '^--!' },
    {
      what: 'passes on an error with a message pending',
      diagram: '-a-#',
      expected: '---#',
      subs: '^--!',
    },
  ])('$what', ({ diagram, expected, subs }) => {
    marbles((m) => {
      const source$ = m.cold(diagram, pieces);
      m.expectObservable(source$.pipe(envoyLines())).toBe(expected, lines);
      m.expectSubscriptions(source$.subscriptions).toBe(subs);
    })();
  });

  it(
    'lets go of its source when it is disposed of early, and emits no more',
    marbles((m) => {
      const source$ = m.cold('a', pieces);
      const unsub = '         ^ 9ms !';
      const expected = '      -';
      m.expectObservable(source$.pipe(envoyLines()), unsub).toBe(expected, lines);
      m.expectSubscriptions(source$.subscriptions).toBe(unsub);
    }),
  );

  it('keeps a state of its own for each subscription', () => {
    const source$ = new Subject<string>();
    const emitted: [string, string][] = [];
    const lines$ = source$.pipe(envoyLines(new VirtualTimeScheduler()));
    const fail = (error: unknown) => expect.unreachable(String(error));
    lines$.subscribe({ next: ({ message }) => emitted.push(['first', message]), error: fail });
    source$.next(header().slice(0, 30));
    lines$.subscribe({ next: ({ message }) => emitted.push(['second', message]), error: fail });
    source$.next(`${header().slice(30)}a\n`);
    source$.complete();
    expect(emitted).toEqual([
      ['first', 'a'],
      ['second', `${header().slice(30)}a`],
    ]);
  });

  it('does not grow with the number of messages: no timer stays behind', () => {
    const scheduler = new VirtualTimeScheduler();
    const source$ = new Subject<string>();
    const subscription = source$
      .pipe(envoyLines(scheduler))
      .subscribe({ error: (error: unknown) => expect.unreachable(String(error)) });
    const finalizerCount = () =>
      (subscription as unknown as { readonly _finalizers: readonly unknown[] | null })._finalizers
        ?.length ?? 0;
    const burst = () => {
      source$.next(`${header()}a\n`);
      scheduler.flush();
    };
    burst();
    const once = finalizerCount();
    for (let count = 0; count < 100; count++) burst();
    expect(finalizerCount()).toBe(once);
    subscription.unsubscribe();
  });

  it('has no timer while nothing is said', () => {
    const scheduler = new VirtualTimeScheduler();
    const subscription = NEVER.pipe(envoyLines(scheduler)).subscribe({
      error: (error: unknown) => expect.unreachable(String(error)),
    });
    expect(scheduler.actions).toEqual([]);
    subscription.unsubscribe();
  });
});
