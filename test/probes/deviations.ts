import type { Verdict } from './verdicts.ts';

/** Verdicts of the agent that differ from those of Go's client, and the reason. */
interface Deviation {
  readonly names: readonly string[];
  readonly of: readonly (keyof Verdict)[];
  readonly because: string;
}

const statusLine =
  'the status line came, and decides: what is wrong behind it does not make an application unhealthy';

/** All deviations. Any other difference is a fault. */
export const deviations: readonly Deviation[] = [
  {
    names: [
      'different Content-Length twice',
      'Content-Length with a comma',
      'a negative Content-Length',
      'a Content-Length that is no number',
      'an empty Content-Length',
      'a header without a colon',
      'a header without a name',
      'a name in Latin-1',
    ],
    of: ['probe'],
    because: statusLine,
  },
  {
    names: [
      'chunked twice',
      'an unknown transfer coding',
      'identity as a transfer coding',
      'a control in a value',
      'a zero byte in a value',
    ],
    of: ['probe', 'scrape'],
    because: `Node’s lenient parser takes it, and the rows are all there; ${statusLine}`,
  },
  {
    names: ['a line end before the status line'],
    of: ['probe', 'scrape'],
    because: 'Node’s parser takes it, as RFC 9112 (2.2) has servers do',
  },
  {
    names: ['equal Content-Length twice', 'a space in a name', 'a space before the colon'],
    of: ['scrape'],
    because: 'Node’s parser refuses it; the reason of the scrape says what',
  },
  {
    names: ['a header of 2 MB'],
    of: ['scrape'],
    because: 'headers may have 1 MB; the reason of the scrape says so',
  },
  {
    names: ['a redirect to another host'],
    of: ['scrape'],
    because: 'a scrape does not leave its host and port: the redirect is its answer',
  },
  {
    names: ['a redirect for ever'],
    of: ['scrape'],
    because: 'the last redirect is its answer, after as many as Go follows',
  },
  {
    names: ['an upgrade that nobody asked for'],
    of: ['scrape'],
    because: 'there is no answer either way',
  },
];
