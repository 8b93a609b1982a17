import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerText } from '../../../../../src/pilot-agent/status/scrape/answer-text.ts';
import type { ExpositionFormat } from '../../../../../src/pilot-agent/status/scrape/exposition-format.ts';
import { expositionRewriter } from '../../../../../src/pilot-agent/status/scrape/exposition-rewriter.ts';
import { strictExposition } from '../../../../support/strict-exposition.ts';

interface Source {
  readonly from: ExpositionFormat;
  readonly lines: readonly string[];
}

function merged(
  to: ExpositionFormat,
  ...sources: readonly Source[]
): { readonly text: string; readonly dropped: number } {
  const usedNames = new Set<number>();
  const answer = answerText();
  let dropped = 0;
  for (const { from, lines } of sources) {
    const rewriter = expositionRewriter(from, to, usedNames, () => true, answer);
    rewriter.take(Buffer.from(`${lines.join('\n')}\n`), 0, Infinity);
    rewriter.end();
    dropped += rewriter.counts().dropped;
  }
  const text = answer.take().toString();
  return { text: to === 'openmetrics' ? `${text}# EOF\n` : text, dropped };
}

const histogram = [
  '# TYPE h histogram',
  'h_bucket{le="1"} 1',
  'h_bucket{le="2.5"} 2',
  'h_bucket{le="+Inf"} 3',
  'h_sum 4.5',
  'h_count 3',
];

describe('expositionRewriter', () => {
  it.each<{
    what: string;
    from: ExpositionFormat;
    to: ExpositionFormat;
    lines: string[];
    out: string[];
    dropped?: number;
  }>([
    {
      what: 'leaves text as it is',
      from: 'text',
      to: 'text',
      lines: [
        '# HELP a One "a" \\\\ \\n',
        '# TYPE a counter',
        'a{b="c",d="\\"\\\\\\n"} 1 1700000000000',
        ...histogram,
        'free 4',
      ],
      out: [
        '# HELP a One "a" \\\\ \\n',
        '# TYPE a counter',
        'a{b="c",d="\\"\\\\\\n"} 1 1700000000000',
        ...histogram,
        '# TYPE free untyped',
        'free 4',
      ],
    },
    {
      what: 'makes OpenMetrics of text: a counter by its name without _total, seconds, canonical bounds, quotes in help',
      from: 'text',
      to: 'openmetrics',
      lines: [
        '# HELP a_total One "a"',
        '# TYPE a_total counter',
        'a_total{b="c"} 1 1700000000500',
        ...histogram,
      ],
      out: [
        '# HELP a One \\"a\\"',
        '# TYPE a counter',
        'a_total{b="c"} 1 1700000000.5',
        '# TYPE h histogram',
        'h_bucket{le="1.0"} 1',
        'h_bucket{le="2.5"} 2',
        'h_bucket{le="+Inf"} 3',
        'h_sum 4.5',
        'h_count 3',
      ],
    },
    {
      what: 'calls unknown what OpenMetrics cannot type, and keeps its name',
      from: 'text',
      to: 'openmetrics',
      lines: ['# TYPE a counter', 'a 1', 'b 2', '# TYPE _total counter', '_total 3'],
      out: [
        '# TYPE a unknown',
        'a 1',
        '# TYPE b unknown',
        'b 2',
        '# TYPE _total unknown',
        '_total 3',
      ],
    },
    {
      what: 'calls a counter unknown whose name without _total somebody else has',
      from: 'text',
      to: 'openmetrics',
      lines: ['# TYPE a gauge', 'a 1', '# TYPE a_total counter', 'a_total 2'],
      out: ['# TYPE a gauge', 'a 1', '# TYPE a_total unknown', 'a_total 2'],
    },
    {
      what: 'makes text of OpenMetrics: without exemplars, units and times of creation; what text has no type for is a gauge, or left out',
      from: 'openmetrics',
      to: 'text',
      lines: [
        '# TYPE a_seconds counter',
        '# UNIT a_seconds seconds',
        'a_seconds_total 1 1.5 # {trace="x"} 1',
        'a_seconds_created 1',
        '# TYPE i info',
        'i_info{v="1"} 1',
        '# TYPE s stateset',
        's{s="on"} 1',
        '# TYPE g gaugehistogram',
        'g_bucket{le="+Inf"} 1',
        '# TYPE u unknown',
        'u 7',
        '# EOF',
      ],
      out: [
        '# TYPE a_seconds_total counter',
        'a_seconds_total 1 1500',
        '# TYPE i_info gauge',
        'i_info{v="1"} 1',
        '# TYPE s gauge',
        's{s="on"} 1',
        '# TYPE u untyped',
        'u 7',
      ],
      dropped: 1,
    },
    {
      what: 'keeps exemplars and units of OpenMetrics, but for an exemplar that is too long',
      from: 'openmetrics',
      to: 'openmetrics',
      lines: [
        '# TYPE a_seconds counter',
        '# UNIT a_seconds seconds',
        'a_seconds_total 1 # {trace="x"} 1 2.5',
        `a_seconds_total{b="c"} 1 # {trace="${'x'.repeat(130)}"} 1`,
      ],
      out: [
        '# TYPE a_seconds counter',
        '# UNIT a_seconds seconds',
        'a_seconds_total 1 # {trace="x"} 1 2.5',
        'a_seconds_total{b="c"} 1',
      ],
    },
    {
      what: 'leaves out a series that comes twice, in whatever order its labels are, and after another family too',
      from: 'text',
      to: 'text',
      lines: ['a{b="1",c="2"} 1', 'a{c="2",b="1"} 2', 'b 1', 'a{b="1",c="2"} 3'],
      out: ['# TYPE a untyped', 'a{b="1",c="2"} 1', '# TYPE b untyped', 'b 1'],
      dropped: 2,
    },
    {
      what: 'keeps the rows of a family that comes again after another, announced or not, with its type',
      from: 'text',
      to: 'text',
      lines: [
        '# TYPE a counter',
        'a{b="1"} 1',
        '# TYPE c gauge',
        'c 1',
        '# TYPE a counter',
        'a{b="2"} 2',
        'c{d="e"} 2',
        'a{b="3"} 3',
      ],
      out: [
        '# TYPE a counter',
        'a{b="1"} 1',
        '# TYPE c gauge',
        'c 1',
        'a{b="2"} 2',
        'c{d="e"} 2',
        'a{b="3"} 3',
      ],
    },
    {
      what: 'keeps further metrics of a histogram in a second block, and leaves out those that began in the first',
      from: 'text',
      to: 'openmetrics',
      lines: [
        ...histogram,
        '# TYPE a_total counter',
        'a_total 1',
        ...histogram
          .slice(1)
          .map((row) => row.replace(/\{|(?= )/, (sign) => (sign === '{' ? '{b="c",' : '{b="c"}'))),
        'a_total{b="c"} 1',
        'h_count 3',
      ],
      out: [
        '# TYPE h histogram',
        'h_bucket{le="1.0"} 1',
        'h_bucket{le="2.5"} 2',
        'h_bucket{le="+Inf"} 3',
        'h_sum 4.5',
        'h_count 3',
        '# TYPE a counter',
        'a_total 1',
        'h_bucket{b="c",le="1.0"} 1',
        'h_bucket{b="c",le="2.5"} 2',
        'h_bucket{b="c",le="+Inf"} 3',
        'h_sum{b="c"} 4.5',
        'h_count{b="c"} 3',
        'a_total{b="c"} 1',
      ],
      dropped: 1,
    },
    {
      what: 'takes rows and comments with blanks before them',
      from: 'text',
      to: 'text',
      lines: ['  # TYPE a counter', ' a 1', '\ta{b="c"} 2', '\t # HELP d x', ' \t d 1', '   '],
      out: ['# TYPE a counter', 'a 1', 'a{b="c"} 2', '# HELP d x', '# TYPE d untyped', 'd 1'],
    },
    {
      what: 'takes a backslash that begins no escape as one, as Prometheus does',
      from: 'text',
      to: 'openmetrics',
      lines: [
        'a{b="\\d+"} 1',
        'a{b="C:\\\\dir\\new\\x"} 1',
        'a{b="\\u00e9\\"\\é"} 1',
        'a{b="\\\\d+"} 2',
      ],
      out: [
        '# TYPE a unknown',
        'a{b="\\\\d+"} 1',
        'a{b="C:\\\\dir\\new\\\\x"} 1',
        'a{b="\\\\u00e9\\"\\\\é"} 1',
      ],
      dropped: 1, // the last row repeats the first one
    },
    {
      what: 'takes two labels without a comma',
      from: 'text',
      to: 'text',
      lines: ['a{b="c" d="e"f="g"} 1'],
      out: ['# TYPE a untyped', 'a{b="c",d="e",f="g"} 1'],
    },
    {
      what: 'takes in text any value, as Prometheus does: negative and NaN counters, sums below 0, a bucket without le',
      from: 'text',
      to: 'text',
      lines: [
        '# TYPE a counter',
        'a -1',
        'a{b="c"} NaN',
        '# TYPE h histogram',
        'h_sum -3',
        'h_bucket 1',
        'h_bucket{le="x"} 1',
        '# TYPE s summary',
        's{quantile="2"} 1',
        's_sum -1',
      ],
      out: [
        '# TYPE a counter',
        'a -1',
        'a{b="c"} NaN',
        '# TYPE h histogram',
        'h_sum -3',
        'h_bucket 1',
        '# TYPE s summary',
        's{quantile="2"} 1',
        's_sum -1',
      ],
      dropped: 1,
    },
    {
      what: 'leaves out a row that makes Prometheus refuse the whole answer: a number out of range, a time before 1970',
      from: 'text',
      to: 'text',
      lines: [
        'a 1e400',
        'a -1e309',
        `a ${'9'.repeat(400)}`,
        'a 1 -5',
        'a{b="c"} 1e-400',
        'a 1e308',
      ],
      out: ['# TYPE a untyped', 'a{b="c"} 1e-400', 'a 1e308'],
      dropped: 4,
    },
    {
      what: 'leaves out rows that are none',
      from: 'text',
      to: 'text',
      lines: [
        'a',
        'a{',
        'a{b} 1',
        'a{b="c"',
        'a 0x1',
        '1a 1',
        'a 1 yesterday',
        '<html>',
        '{"my.name"} 1',
        'a{b="c",b="d"} 1',
      ],
      out: [],
      dropped: 10,
    },
    {
      what: 'mends blanks, a comma too many, and other words for infinity',
      from: 'text',
      to: 'text',
      lines: ['a{ b = "c" , } \t inf', 'a  -Infinity '],
      out: ['# TYPE a untyped', 'a{b="c"} +Inf', 'a -Inf'],
    },
    {
      what: 'leaves out a histogram that is not whole, in OpenMetrics',
      from: 'text',
      to: 'openmetrics',
      lines: [
        '# TYPE h histogram',
        'h_bucket{a="1",le="1"} 1',
        'h_bucket{a="1",le="+Inf"} 1',
        'h_count{a="1"} 1',
        'h_sum{a="1"} 1',
        'h_bucket{a="2",le="1"} 1',
        'h_bucket{a="2",le="2"} 2',
      ],
      out: [
        '# TYPE h histogram',
        'h_bucket{a="1",le="1.0"} 1',
        'h_bucket{a="1",le="+Inf"} 1',
        'h_count{a="1"} 1',
        'h_sum{a="1"} 1',
      ],
      dropped: 2,
    },
    {
      what: 'says nothing of a family without rows',
      from: 'text',
      to: 'openmetrics',
      lines: ['# HELP a x', '# TYPE a gauge'],
      out: [],
    },
  ])('$what', ({ from, to, lines, out, dropped = 0 }) => {
    const answer = merged(to, { from, lines });
    expect(answer.text.split('\n').filter((line) => line !== '' && line !== '# EOF')).toEqual(out);
    expect(answer.dropped).toBe(dropped);
    strictExposition(answer.text, to);
  });

  it('says the first row that it leaves out for each reason', () => {
    const text = `a 1\na 2\na 3\n<${'x'.repeat(500)}>\n{"my.name"} 1\nb 1 yesterday\n`;
    const rewriter = expositionRewriter('text', 'text', new Set(), () => true, answerText());
    rewriter.take(Buffer.from(text), 0, Infinity);
    rewriter.end();
    expect([...rewriter.leftOut()]).toEqual([
      ['again', 'a 2'],
      ['form', `<${'x'.repeat(159)}`],
    ]);
    expect(rewriter.counts().dropped).toBe(5);
  });

  it('leaves a family to the first source that has it, and whatever would clash with its rows', () => {
    const answer = merged(
      'openmetrics',
      { from: 'text', lines: histogram },
      { from: 'text', lines: [...histogram, 'h_count 3', 'other 1'] },
    );
    expect([...strictExposition(answer.text, 'openmetrics').keys()]).toEqual(['h', 'other']);
    expect(answer.dropped).toBe(6);
  });

  const name = fc.constantFrom(
    'a',
    'a_total',
    'a_count',
    'a_bucket',
    'a_sum',
    'a_created',
    'a_info',
    'b',
    'b_total',
    'h',
    'h_bucket',
    'h_sum',
    'h_count',
    'h_gcount',
    'h_gsum',
    'h_created',
  );
  const label = fc.tuple(
    fc.constantFrom('le', 'quantile', 'a', 'b', 'x'),
    fc.constantFrom(
      '0',
      '1',
      '0.5',
      '2',
      '+Inf',
      'NaN',
      'on',
      '\\"',
      '\\\\',
      '\\n',
      '\\q',
      'é',
      ',',
      '# {',
      '}',
    ),
  );
  const labels = fc
    .array(label, { maxLength: 3 })
    .map((pairs) =>
      pairs.length === 0 ? '' : `{${pairs.map(([key, text]) => `${key}="${text}"`).join()}}`,
    );
  const amount = fc.constantFrom(
    '0',
    '1',
    '2',
    '3',
    '-1',
    '1.5',
    'NaN',
    '+Inf',
    '-Inf',
    'x',
    '1e3',
  );
  const tail = fc.constantFrom('', '', '', ' 5', ' 5.5', ' # {t="x"} 1', ' 5 # {} 1', ' # {', ' #');
  const bound = fc.constantFrom(
    '0',
    '1',
    '1.0',
    '2.5',
    '1e3',
    '1.8e+06',
    '+Inf',
    'NaN',
    '-1',
    '',
    '1'.repeat(30),
  );
  const count = fc.constantFrom(
    '0',
    '1',
    '2',
    '2',
    '3',
    '3',
    '007',
    '1.5',
    '1e3',
    '9'.repeat(15),
    '9'.repeat(16),
    '',
    '4 5',
  );
  const others = fc.constantFrom('', 'a="b",', 'a="é\\"",', 'b="c",a="b",', 'a="b", ');
  const metric = fc
    .tuple(others, fc.array(fc.tuple(bound, count), { minLength: 1, maxLength: 6 }), fc.boolean())
    .map(([before, rows, whole]) =>
      [
        ...(whole ? ['# TYPE h histogram'] : []),
        ...rows.map(([le, value]) => `h_bucket{${before}le="${le}"} ${value}`),
        ...(whole
          ? [
              `h_bucket{${before}le="+Inf"} 9`,
              `h_count{${before.replace(/, ?$/, '')}} 9`,
              `h_sum{${before}} 9`,
            ]
          : []),
      ].join('\n'),
    );
  const line = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(name, labels, amount, tail)
        .map((parts) => `${parts[0]}${parts[1]} ${parts[2]}${parts[3]}`),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(
          name,
          fc.constantFrom(
            'counter',
            'gauge',
            'histogram',
            'gaugehistogram',
            'summary',
            'info',
            'stateset',
            'unknown',
            'untyped',
            'nonsense',
          ),
        )
        .map(([family, type]) => `# TYPE ${family} ${type}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          name,
          fc.constantFrom('HELP', 'UNIT'),
          fc.constantFrom('total', 'x "y" \\ z', '', 'count'),
        )
        .map(([family, word, text]) => `# ${word} ${family} ${text}`),
    },
    {
      weight: 1,
      arbitrary: fc.constant(
        '# TYPE h histogram\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 3\nh_sum 4\nh_count 3',
      ),
    },
    { weight: 2, arbitrary: metric },
    { weight: 1, arbitrary: fc.string() },
  );
  const source = fc.record({
    from: fc.constantFrom<ExpositionFormat>('text', 'openmetrics'),
    lines: fc.array(line, { maxLength: 25 }).map((lines) => lines.join('\n').split('\n')),
  });

  it.each<ExpositionFormat>(['text', 'openmetrics'])(
    'makes %s that a strict reader accepts, whatever sources say',
    (to) => {
      fc.assert(
        fc.property(
          fc.array(source, { minLength: 1, maxLength: 3 }),
          (sources) => void strictExposition(merged(to, ...sources).text, to),
        ),
        { numRuns: 3_000 },
      );
    },
  );

  it.each<ExpositionFormat>(['text', 'openmetrics'])(
    'copies to %s what it would have printed',
    (to) => {
      // A row with a blank at its end is not copied: it is read and printed.
      const printed = ({ from, lines }: Source) => ({
        from,
        lines: lines.map((line) => (/^#|^$|\r/.test(line) ? line : `${line} `)),
      });
      fc.assert(
        fc.property(fc.array(source, { minLength: 1, maxLength: 3 }), (sources) => {
          expect(merged(to, ...sources)).toEqual(merged(to, ...sources.map(printed)));
        }),
        { numRuns: 3_000 },
      );
    },
  );
});
