import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import * as fc from 'fast-check';
import { answerText } from '../../../src/pilot-agent/status/scrape/answer-text.ts';
import type { ExpositionFormat } from '../../../src/pilot-agent/status/scrape/exposition-format.ts';
import { expositionRewriter } from '../../../src/pilot-agent/status/scrape/exposition-rewriter.ts';
import { ScrapeFault } from '../../../src/pilot-agent/status/scrape/metrics-source.ts';
import { readLines } from '../../../src/pilot-agent/status/scrape/read-lines.ts';
import { fuzzed, textOf } from '../parser.ts';

const formats: readonly ExpositionFormat[] = ['text', 'openmetrics'];

function rewrite(lines: Buffer): void {
  for (const from of formats)
    for (const to of formats) {
      const answer = answerText();
      const rewriter = expositionRewriter(from, to, new Set(), () => true, answer);
      rewriter.take(lines, 0, Infinity);
      rewriter.end();
      answer.take();
    }
}

/** Reads these pieces as the answer of a source. */
async function read(pieces: readonly Uint8Array[]): Promise<void> {
  const answer = Object.assign(Readable.from(pieces.map((piece) => Buffer.from(piece))), {
    headers: {},
  });
  try {
    for await (const lines of readLines(answer as unknown as IncomingMessage)) rewrite(lines);
  } catch (error) {
    if (!(error instanceof ScrapeFault)) throw error;
  }
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const many = (size: number, make: (index: number) => string) =>
  Array.from({ length: size }, (_, index) => make(index)).join('');

export const exposition = [
  fuzzed({
    name: 'exposition',
    inputs: textOf(
      '# TYPE ',
      '# HELP ',
      '# UNIT ',
      '# EOF',
      'a',
      '_total',
      '_bucket',
      ' counter',
      ' histogram',
      ' summary',
      ' info',
      '\n',
      '{',
      '}',
      'le="',
      'quantile="',
      '"',
      ',',
      '=',
      '\\',
      ' ',
      '\t',
      '1',
      '1e400',
      '+Inf',
      'NaN',
      '-',
      '.',
      ' # {',
      '\r',
      '\ud800',
    ),
    parse: (text) => rewrite(Buffer.from(`${text}\n`)),
    growing: {
      'blanks after a time': (size) => `a 1 1${' '.repeat(size)}x`,
      'blanks before an exemplar': (size) => `a 1 ${' '.repeat(size)}#`,
      'blanks in a comment': (size) => `#${' '.repeat(size)}TYPE${' '.repeat(size)}`,
      'an exemplar': (size) => `# TYPE a counter\na_total 1 # {${'a="",'.repeat(size)}`,
      digits: (size) => `a ${'1'.repeat(size)}x`,
      'digits of a bound': (size) => `# TYPE h histogram\nh_bucket{le="${'1'.repeat(size)}x"} 1`,
      'a name': (size) => `# TYPE ${'a'.repeat(size)} counter\n${'a'.repeat(size)} 1`,
      labels: (size) => `a{${many(size, (label) => `l${label}="",`)}} 1`,
      'a label of escapes': (size) => `a{b="${'\\\\'.repeat(size)}"} 1`,
      'help of escapes': (size) => `# HELP a ${'\\\\'.repeat(size)}\n# TYPE a gauge\na 1`,
      'rows of a family': (size) => many(size, (row) => `a{b="${row}"} 1\n`),
      families: (size) => many(size, (family) => `# TYPE a${family} summary\na${family}_sum 1\n`),
      'families in turns': (size) => many(size, (row) => `a${row % 3} ${row}\n`),
      buckets: (size) =>
        `# TYPE h histogram\n${many(size, (bound) => `h_bucket{le="${bound}"} ${bound}\n`)}`,
      histograms: (size) =>
        `# TYPE h histogram\n${many(size, (row) => `h_bucket{a="${row}",le="+Inf"} 1\n`)}`,
    },
  }),
  fuzzed({
    name: 'the answer of a source',
    inputs: fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 20 }),
        fc.constantFrom('a 1\n', '\n', '\r\n', '\r', 'a').map(bytes),
      ),
    ),
    parse: read,
    growing: {
      'a line byte by byte': (size) => Array.from({ length: size }, () => bytes('a')),
      'lines byte by byte': (size) =>
        Array.from({ length: size }, (_, index) => bytes(index % 50 === 0 ? '\n' : 'a')),
      'empty lines': (size) => [bytes('\n'.repeat(size * 10))],
    },
  }),
];
