import type { IncomingMessage } from 'node:http';
import { answerText } from './answer-text.ts';
import type { ExpositionFormat } from './exposition-format.ts';
import { type ExpositionRewriter, expositionRewriter } from './exposition-rewriter.ts';
import type { LeftOut } from './left-out.ts';
import { type MetricFamily, printFamilies } from '../../../shared/metrics/metric-family.ts';
import { type FaultReason, type OpenedSource, ScrapeFault } from './metrics-source.ts';
import { readLines } from './read-lines.ts';

/** The result of scraping one source. */
export interface ScrapeReport {
  readonly fault: FaultReason | undefined;
  /** The number of rows that were left out, and the first of them for each reason. */
  readonly dropped: number;
  readonly leftOut: ReadonlyMap<LeftOut, string>;
}

export interface Merge {
  readonly format: ExpositionFormat;
  /** In the order of the answer: a family belongs to the first source that has it. */
  readonly sources: readonly OpenedSource[];
  /** Called with each source when it is finished. */
  readonly report: (source: OpenedSource, report: ScrapeReport) => void;
  /** Waits until other work had its turn, before each slice of this work. */
  readonly pause: () => Promise<void>;
  /**
   * Waits until the answer may be large; only one answer at a time may. Rejects with a
   * {@link ScrapeFault} if that takes too long.
   */
  readonly enlarge: () => Promise<void>;
  /** Reads the agent's own metrics, after all sources. */
  readonly ownFamilies: () => Promise<readonly MetricFamily[]>;
}

/** The prefix of names that only the agent may use. */
const ownPrefix = 'istio_agent_';
/** In bytes: the approximate size of the answer's pieces. */
const pieceSize = 64 << 10;
/** The number of lines that are rewritten at a time: 1 to 5 ms of work. */
const slice = 1_000;
/** The limits of one source. */
const most = { rows: 100_000, families: 10_000 };
/** The limits of all applications in an answer that is not large, in bytes and in lines. */
const free = { bytes: 1 << 20, rows: 5_000 };

/**
 * Generates the answer to a scrape, piece by piece. Its writer asks for each piece: what is not yet
 * written is not yet read. A source that fails still contributes what it gave so far.
 */
export async function* mergeExposition({
  format,
  sources,
  report,
  pause,
  enlarge,
  ownFamilies,
}: Merge): AsyncGenerator<Buffer> {
  const usedNames = new Set<number>();
  const applicationTotal = { bytes: 0, rows: 0 };
  const text = answerText();
  for (const source of sources) {
    let fault: FaultReason | undefined;
    let rewriter: ExpositionRewriter | undefined;
    try {
      const answer = await source.read();
      rewriter = expositionRewriter(
        formatOf(answer),
        format,
        usedNames,
        (name) => !name.startsWith(ownPrefix),
        text,
      );
      for await (const lines of readLines(answer)) {
        for (let offset = 0; offset < lines.length;) {
          if (offset > 0) await pause();
          const before = rewriter.counts().rows;
          const end = rewriter.take(lines, offset, slice);
          const { rows, families } = rewriter.counts();
          if (source.type === 'application') {
            applicationTotal.bytes += end - offset;
            applicationTotal.rows += rows - before;
            if (applicationTotal.bytes > free.bytes || applicationTotal.rows > free.rows)
              await enlarge();
          }
          offset = end;
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
  writeOwn(await ownFamilies(), format, text); // no source may use these names
  yield text.take();
}

/** Writes the metrics of the agent, and the end of the exposition. */
function writeOwn(
  families: readonly MetricFamily[],
  format: ExpositionFormat,
  text: ReturnType<typeof answerText>,
): void {
  const lines = `${printFamilies(families).join('\n')}\n`;
  if (format === 'text') {
    text.write(lines);
    return;
  }
  const rewriter = expositionRewriter('text', format, new Set(), () => true, text);
  rewriter.take(Buffer.from(lines), 0, Infinity);
  rewriter.end();
  text.write('# EOF\n');
}

/**
 * Returns the format of a source. A source with no format, or an odd one, is read as text: rows
 * that do not parse are left out.
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
