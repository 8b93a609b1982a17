import type { IncomingMessage } from 'node:http';
import type { ExpositionFormat } from './exposition-format.ts';
import { expositionRewriter } from './exposition-rewriter.ts';
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
  /** The agent's own metrics, asked for after all sources. */
  readonly own: () => Promise<readonly MetricFamily[]>;
}

/** Names that are the agent's alone. */
const ownPrefix = 'istio_agent_';
/** The answer is put out in pieces of about so many characters. */
const pieceSize = 64 << 10;

/**
 * The answer to a scrape, piece by piece, each of which is asked for by whoever writes it: what is
 * not yet written is not yet read. A source that fails gives what it has given so far.
 */
export async function* mergeExposition({ format, sources, report, own }: Merge): AsyncGenerator<string> {
  const taken = new Set<string>();
  let waiting = '';
  for (const source of sources) {
    let fault: FaultReason | undefined;
    let rewriter: ReturnType<typeof expositionRewriter> | undefined;
    try {
      const answer = await source.read();
      rewriter = expositionRewriter(formatOf(answer), format, taken, (name) => !name.startsWith(ownPrefix));
      for await (const lines of readLines(answer)) {
        for (const line of lines) waiting += rewriter.line(line);
        if (waiting.length < pieceSize) continue;
        yield waiting;
        waiting = '';
      }
    } catch (error) {
      if (!(error instanceof ScrapeFault)) throw error;
      fault = error.reason;
    }
    waiting += rewriter?.end() ?? '';
    report(source, { fault, dropped: rewriter?.dropped() ?? 0 });
  }
  const lines = printFamilies(await own()); // of names that nobody else may have
  if (format === 'text') {
    yield `${waiting}${lines.join('\n')}\n`;
    return;
  }
  const rewriter = expositionRewriter('text', format, taken, () => true);
  for (const line of lines) waiting += rewriter.line(line);
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
