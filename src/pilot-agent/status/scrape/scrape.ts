import {
  Agent,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import { pipeline, type Writable } from 'node:stream';
import {
  asyncScheduler,
  concat,
  defer,
  EMPTY,
  finalize,
  firstValueFrom,
  from,
  fromEvent,
  ignoreElements,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  type SchedulerLike,
  share,
  switchMap,
  take,
  takeUntil,
  timer,
} from 'rxjs';
import type { AdminClient } from '../../../proxy/admin-client.ts';
import type { MetricsTarget } from '../../config/metrics-targets.ts';
import { type Merge, mergeExposition } from './merge-exposition.ts';
import type { MetricFamily } from '../../../shared/metrics/metric-family.ts';
import { looks, type MetricsSource, openSource } from './metrics-source.ts';
import { openMetrics } from './open-metrics.ts';
import { places } from '../../../operators/places.ts';
import type { RequestRefusal } from '../../../shared/http/control-guard.ts';
import { answer, type Handler } from '../../../shared/http/handler.ts';
import { compress, type NegotiatedFormat, negotiateFormat } from './negotiate.ts';
import { largeScrape } from './large-scrape.ts';
import { countScrape, noScrapes, type ScrapeEvent, scrapeFamilies } from './scrape-counts.ts';
import { mark, ownRequest } from '../probe/own-requests.ts';
import { sharedScrapes } from './shared-scrapes.ts';
import { type MetricsLeftOut, leftOutReporter } from './left-out-reporter.ts';
import { type MetricsRefused, refusalReporter } from './refusal-reporter.ts';

/** In ms. The timeout of a scrape that names none. */
const standardTimeout = 10_000;
const longestTimeout = 120_000;
/** The maximum number of scrapes at a time: each holds a piece of every source. */
const mostScrapes = 16;
/**
 * In bytes. An answer of this size is written without waiting for its reader, so no client that
 * shares an answer waits for another client.
 */
const mostShared = 256 << 10;
const accepts = {
  text: 'text/plain;version=0.0.4,*/*;q=0.1',
  openmetrics:
    'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
} as const;

/**
 * Answers a scrape with the metrics of all sources and of the agent as one exposition. `families$`
 * has the agent's metrics, and emits them at once.
 *
 * Scrapes that come within 100 ms share an answer of up to 256 KiB, if they have the same format
 * and the same timeout.
 *
 * A source must be finished within four fifths of the scrape's timeout. If it had to wait for a
 * late source, it has a twentieth more. After nineteen twentieths the rest is abandoned, so that
 * the metrics read so far, and the agent's own, arrive in time.
 */
export function metrics(
  sources: readonly MetricsSource[],
  families$: Observable<readonly MetricFamily[]>,
  scheduler: SchedulerLike = asyncScheduler,
): Handler<MetricsRefused | MetricsLeftOut> {
  const scraping: Scraping = {
    sources,
    ledger: scrapeLedger(families$, scheduler),
    shared: sharedScrapes(mostShared, scheduler),
    place$: places(1),
    scheduler,
  };
  let running = 0;
  return (request, response) =>
    defer(() => {
      const refusal = ownRequest(request) ?? (running >= mostScrapes ? tooMany : undefined);
      if (refusal !== undefined) {
        answer(response, ...refusal);
        return EMPTY;
      }
      running += 1;
      scraping.ledger.count({ type: 'begun' });
      const scrape = readScrape(request);
      const sink = openSink(request, response, scrape);
      // The answer is on its way until the response closes, which unsubscribes.
      return concat(writeScrape(scrape, sink, scraping), NEVER).pipe(
        takeUntil(timer(scrape.timeoutMs, scheduler)), // the client no longer waits
        finalize(() => {
          running -= 1;
          sink.destroy();
        }),
      );
    });
}

/** Everything that the scrapes of one handler share. */
interface Scraping {
  readonly sources: readonly MetricsSource[];
  readonly ledger: ReturnType<typeof scrapeLedger>;
  readonly shared: ReturnType<typeof sharedScrapes>;
  readonly place$: ReturnType<typeof places>;
  readonly scheduler: SchedulerLike;
}

/** Writes the answer of another scrape that has begun, if it can be shared, or asks all sources. */
function writeScrape(
  scrape: Scrape,
  sink: Writable,
  scraping: Scraping,
): Observable<MetricsRefused | MetricsLeftOut> {
  const others = scraping.shared.follow(scrape.kind);
  if (others === undefined) return lead(scrape, sink, scraping);
  return from(others).pipe(
    switchMap((whole) =>
      whole === undefined
        ? lead(scrape, sink, scraping)
        : from(write(whole, sink)).pipe(ignoreElements()),
    ),
  );
}

/**
 * Asks all sources, and writes the answer so that other scrapes can share it. Emits the reports
 * about the sources, and completes when the answer is written.
 */
function lead(
  scrape: Scrape,
  sink: Writable,
  { sources, ledger, shared, place$, scheduler }: Scraping,
): Observable<MetricsRefused | MetricsLeftOut> {
  return defer(() => {
    const leading = shared.lead(scrape.kind);
    const looks$ = looks(scrape.timeoutMs, scheduler).pipe(share());
    const opened = sources.map((source) => openSource(source, scrape.headers, looks$));
    const large = largeScrape(place$, looks$, scheduler);
    const merging: Merge = {
      format: scrape.format,
      sources: opened,
      enlarge: () => large.enlarge(),
      ...ledger.merging,
    };
    const written$ = from(write(leading.passOn(mergeExposition(merging)), sink));
    const overdue$ = large.overdue$.pipe(map(() => void sink.destroy()));
    return merge(written$, overdue$).pipe(
      take(1),
      mergeMap(() => ledger.unreported()),
      finalize(() => {
        for (const part of [leading, large, ...opened]) part.unsubscribe();
      }),
    );
  });
}

/** Counts scrapes, and gathers the reports about their sources that are not emitted yet. */
function scrapeLedger(families$: Observable<readonly MetricFamily[]>, scheduler: SchedulerLike) {
  const refused = refusalReporter(scheduler);
  const leftOut = leftOutReporter();
  const unreported: (MetricsRefused | MetricsLeftOut)[] = [];
  let counts = noScrapes;
  let slice = Promise.resolve();
  const count = (event: ScrapeEvent) => (counts = countScrape(counts, event));
  const merging: Pick<Merge, 'report' | 'pause' | 'ownFamilies'> = {
    report: (source, report) => {
      count({ type: 'reported', source, report });
      unreported.push(...refused(source, report.fault), ...leftOut(source, report.leftOut));
    },
    // Before each slice of any scrape, lets the event loop do all other work.
    pause: () => (slice = slice.then(() => new Promise((resolve) => setImmediate(resolve)))),
    ownFamilies: async () => [
      ...scrapeFamilies(counts),
      ...(await firstValueFrom(families$, { defaultValue: [] })),
    ],
  };
  return { count, merging, unreported: () => unreported.splice(0) };
}

const tooMany: RequestRefusal = [503, 'too many scrapes at a time'];

/** The parameters of a request for metrics. */
interface Scrape extends NegotiatedFormat {
  readonly timeoutMs: number;
  /** Everything that affects the answer. */
  readonly kind: string;
  /** The headers of the requests to the sources. */
  readonly headers: OutgoingHttpHeaders;
}

function readScrape({ headers }: IncomingMessage): Scrape {
  const { format, contentType } = negotiateFormat(headers.accept);
  const timeoutMs = timeoutOf(headers['x-prometheus-scrape-timeout-seconds']);
  return {
    format,
    contentType,
    timeoutMs,
    kind: `${format} ${timeoutMs}`,
    headers: {
      accept: accepts[format],
      'user-agent': headers['user-agent'] ?? 'pilot-agent',
      'x-prometheus-scrape-timeout-seconds': String((timeoutMs * 0.8) / 1000),
      ...mark,
    },
  };
}

/**
 * Returns the stream for the text of the answer. If it ends, the answer ends; if it is destroyed,
 * the connection is closed.
 */
function openSink(
  { headers }: IncomingMessage,
  response: ServerResponse,
  { contentType }: Scrape,
): Writable {
  response.statusCode = 200;
  response.setHeader('content-type', contentType);
  response.setHeader('vary', 'Accept, Accept-Encoding');
  const compression = compress(headers['accept-encoding']);
  if (compression === undefined) return response;
  response.setHeader('content-encoding', compression.name);
  const compressor = compression.create();
  pipeline(compressor, response, () => undefined); // a failure on the way closes the answer
  return compressor;
}

/**
 * Writes the last piece together with the end, so that an answer of one piece is sent as one piece.
 */
async function write(
  pieces: AsyncIterable<Buffer> | readonly Buffer[],
  sink: Writable,
): Promise<void> {
  let last: Buffer | undefined;
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (last !== undefined && !sink.write(last) && size > mostShared && !sink.destroyed) {
      await firstValueFrom(merge(fromEvent(sink, 'drain'), fromEvent(sink, 'close')), {
        defaultValue: undefined,
      });
    }
    if (sink.destroyed) return;
    last = piece;
  }
  sink.end(last);
}

function timeoutOf(header: string | readonly string[] | undefined): number {
  const ms = Number(header) * 1000;
  return ms > 0 ? Math.min(ms, longestTimeout) : standardTimeout;
}

/** The inputs of a scrape. */
export interface ScrapeParts {
  readonly admin: Pick<AdminClient, 'request' | 'open'>;
  readonly targets: readonly Pick<MetricsTarget, 'port' | 'path'>[];
  /** The agent's own metrics; emits the current ones at once, on subscribe. */
  readonly families$: Observable<readonly MetricFamily[]>;
}

/**
 * Serves `/stats/prometheus`: Envoy's metrics, those of the applications in their order, then the
 * agent's.
 */
export function allMetrics({
  admin,
  targets,
  families$,
}: ScrapeParts): Handler<MetricsRefused | MetricsLeftOut> {
  const agent = new Agent({ keepAlive: true });
  const envoy: MetricsSource = {
    type: 'envoy',
    target: 'envoy',
    open: (headers) => admin.open('/stats/prometheus', headers),
  };
  const applications = targets.map(({ port, path }): MetricsSource => {
    return {
      type: 'application',
      target: `${port}${path}`,
      open: (headers) => openMetrics({ port, path, agent, headers }),
    };
  });
  return metrics([envoy, ...applications], families$);
}
