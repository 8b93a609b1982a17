import type { IncomingMessage } from 'node:http';
import type { ExpositionFormat } from './exposition-format.ts';
import { type ExpositionRewriter, expositionRewriter } from './exposition-rewriter.ts';
import { type MetricFamily, printFamilies } from './metric-family.ts';
import { type FaultReason, type OpenedSource, ScrapeFault } from './metrics-source.ts';
import { readLines } from './read-lines.ts';

/** How it went with one source. */
export interface SourceReport {
  readonly fault: FaultReason | undefined;
  /** Rows that were left out. */
  readonly dropped: number;
}

export interface Merge {
  readonly format: ExpositionFormat;
  /** In the order in which they come in the answer: a family belongs to the first that has it. */
  readonly sources: readonly OpenedSource[];
  /** Is told of each source when it is through. */
  readonly report: (source: OpenedSource, report: SourceReport) => void;
  /** Waits until others had their turn: before each slice of the work. */
  readonly pause: () => Promise<void>;
  /**
   * Waits until an answer may be large, of which there is one at a time. Rejects with a
   * {@link ScrapeFault} if that takes too long.
   */
  readonly enlarge: () => Promise<void>;
  /** The agent's own metrics, asked for after all sources. */
  readonly own: () => Promise<readonly MetricFamily[]>;
}

/** Names that are the agent's alone. */
const ownPrefix = 'istio_agent_';
/** The answer is put out in pieces of about so many characters. */
const pieceSize = 64 << 10;
/** What is read of one source. */
const most = { rows: 100_000, families: 10_000 };
/** What the applications may say in an answer that is not large, in characters and in rows. */
const free = { text: 1 << 20, rows: 5_000 };

/**
 * The answer to a scrape, piece by piece, each of which is asked for by whoever writes it: what is
 * not yet written is not yet read. A source that fails gives what it has given so far.
 */
export async function* mergeExposition({ format, sources, report, pause, enlarge, own }: Merge): AsyncGenerator<string> {
  const taken = new Set<number>();
  const said = { text: 0, rows: 0 };
  let waiting = '';
  for (const source of sources) {
    let fault: FaultReason | undefined;
    let rewriter: ExpositionRewriter | undefined;
    try {
      const answer = await source.read();
      rewriter = expositionRewriter(formatOf(answer), format, taken, (name) => !name.startsWith(ownPrefix));
      for await (const lines of readLines(answer, pause)) {
        if (source.type === 'application') {
          said.text += lines.reduce((sum, { length }) => sum + length, 0);
          said.rows += lines.length;
          if (said.text > free.text || said.rows > free.rows) await enlarge();
        }
        waiting += rewriter.lines(lines);
        const { rows, families } = rewriter.counts();
        if (rows > most.rows) throw new ScrapeFault('too_many_rows');
        if (families > most.families) throw new ScrapeFault('too_many_families');
        if (waiting.length < pieceSize) continue;
        yield waiting;
        waiting = '';
      }
    } catch (error) {
      if (!(error instanceof ScrapeFault)) throw error;
      fault = error.reason;
    }
    waiting += rewriter?.end() ?? '';
    report(source, { fault, dropped: rewriter?.counts().dropped ?? 0 });
  }
  const lines = printFamilies(await own()); // of names that nobody else may have
  if (format === 'text') {
    yield `${waiting}${lines.join('\n')}\n`;
    return;
  }
  const rewriter = expositionRewriter('text', format, new Set(), () => true);
  waiting += rewriter.lines(lines);
  yield `${waiting}${rewriter.end()}# EOF\n`;
}

/**
 * A source that says nothing, or something odd, of its format is taken at its rows: those that are
 * none are left out.
 */
function formatOf(answer: IncomingMessage): ExpositionFormat {
  const type = answer.headers['content-type']?.toLowerCase() ?? '';
  if (answer.statusCode !== 200) fail(answer, 'status');
  if (type.includes('protobuf')) fail(answer, 'format');
  return type.startsWith('application/openmetrics-text') ? 'openmetrics' : 'text';
}

function fail(answer: IncomingMessage, reason: FaultReason): never {
  answer.destroy();
  throw new ScrapeFault(reason);
}
