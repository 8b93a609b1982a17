import type { IncomingMessage } from 'node:http';
import { answerText } from './answer-text.ts';
import type { ExpositionFormat } from './exposition-format.ts';
import { type ExpositionRewriter, expositionRewriter } from './exposition-rewriter.ts';
import type { LeftOut } from './left-out.ts';
import { type MetricFamily, printFamilies } from '../../../shared/metrics/metric-family.ts';
import { type FaultReason, type OpenedSource, ScrapeFault } from './metrics-source.ts';
import { readLines } from './read-lines.ts';

/** How it went with one source. */
export interface ScrapeReport {
  readonly fault: FaultReason | undefined;
  /** How many rows were left out, and the first of them for each reason. */
  readonly dropped: number;
  readonly leftOut: ReadonlyMap<LeftOut, string>;
}

export interface Merge {
  readonly format: ExpositionFormat;
  /** In the order in which they come in the answer: a family belongs to the first that has it. */
  readonly sources: readonly OpenedSource[];
  /** Is told of each source when it is through. */
  readonly report: (source: OpenedSource, report: ScrapeReport) => void;
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
/** The answer is put out in pieces of about so many bytes. */
const pieceSize = 64 << 10;
/** So many lines are rewritten at a time: 1 to 5 ms of work. */
const slice = 1_000;
/** What is read of one source. */
const most = { rows: 100_000, families: 10_000 };
/** What the applications may say in an answer that is not large, in bytes and in lines. */
const free = { bytes: 1 << 20, rows: 5_000 };

/**
 * The answer to a scrape, piece by piece, each of which is asked for by whoever writes it: what is
 * not yet written is not yet read. A source that fails gives what it has given so far.
 */
export async function* mergeExposition({
  format,
  sources,
  report,
  pause,
  enlarge,
  own,
}: Merge): AsyncGenerator<Buffer> {
  const taken = new Set<number>();
  const said = { bytes: 0, rows: 0 };
  const text = answerText();
  for (const source of sources) {
    let fault: FaultReason | undefined;
    let rewriter: ExpositionRewriter | undefined;
    try {
      const answer = await source.read();
      rewriter = expositionRewriter(
        formatOf(answer),
        format,
        taken,
        (name) => !name.startsWith(ownPrefix),
        text,
      );
      for await (const lines of readLines(answer)) {
        for (let at = 0; at < lines.length;) {
          if (at > 0) await pause();
          const before = rewriter.counts().rows;
          const end = rewriter.take(lines, at, slice);
          const { rows, families } = rewriter.counts();
          if (source.type === 'application') {
            said.bytes += end - at;
            said.rows += rows - before;
            if (said.bytes > free.bytes || said.rows > free.rows) await enlarge();
          }
          at = end;
          if (rows > most.rows) throw new ScrapeFault('too_many_rows');
          if (families > most.families) throw new ScrapeFault('too_many_families');
          if (text.size() >= pieceSize) yield text.take();
        }
      }
    } catch (error) {
      if (!(error instanceof ScrapeFault)) throw error;
      fault = error.reason;
    }
    rewriter?.end();
    report(source, {
      fault,
      dropped: rewriter?.counts().dropped ?? 0,
      leftOut: rewriter?.leftOut() ?? new Map(),
    });
  }
  const lines = `${printFamilies(await own()).join('\n')}\n`; // of names that nobody else may have
  if (format === 'text') text.write(lines);
  else {
    const rewriter = expositionRewriter('text', format, new Set(), () => true, text);
    const bytes = Buffer.from(lines);
    rewriter.take(bytes, 0, Infinity);
    rewriter.end();
    text.write('# EOF\n');
  }
  yield text.take();
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
