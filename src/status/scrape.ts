import { Agent, type OutgoingHttpHeaders } from 'node:http';
import type { Writable } from 'node:stream';
import { asyncScheduler, firstValueFrom, Observable, type SchedulerLike, timer } from 'rxjs';
import { openAnswer } from '../admin/admin-client.ts';
import { mergeExposition } from '../metrics/merge-exposition.ts';
import type { MetricFamily } from '../metrics/metric-family.ts';
import { type MetricsSource, openSource } from '../metrics/metrics-source.ts';
import { answer, type Handler, type StatusParts } from './handler.ts';
import { compress, negotiateFormat } from './negotiate.ts';
import { scrapeCounts } from './scrape-counts.ts';
import { sharedScrapes } from './shared-scrapes.ts';

/** Where a scrape does not say how long it waits. In ms. */
const standardTimeout = 10_000;
const longestTimeout = 120_000;
/** Scrapes at a time: each holds a piece of every source. */
const mostScrapes = 16;
/** In characters. So much is written without waiting for its reader: nobody who shares an answer waits for another reader. */
const mostShared = 256 << 10;
/** From which look at what is late on nothing is waited for any more: at 0.95 of the time-out. */
const lastRound = 3;
/** Marks the scrapes of an agent, so that one that comes back to an agent is seen. */
const mark = 'x-pilot-agent-scrape';

const accepts = {
  text: 'text/plain;version=0.0.4,*/*;q=0.1',
  openmetrics: 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
} as const;

/**
 * Answers a scrape with the metrics of all sources and of the agent as one exposition. `families$` has what the agent has to tell, and emits it at
 * once.
 *
 * Scrapes that come within 100 ms share an answer of up to 256 KiB, if they are of one format and one time-out.
 *
 * A source has four fifths of the scrape's time-out to be through, and a twentieth more where it had to wait for one that was not. After nineteen twentieths the
 * rest is given up, so that what is there, and the agent's own metrics, arrive in time.
 */
export function metrics(
  sources: readonly MetricsSource[],
  families$: Observable<readonly MetricFamily[]>,
  scheduler: SchedulerLike = asyncScheduler,
): Handler {
  const counts = scrapeCounts();
  const shared = sharedScrapes(mostShared, scheduler);
  let running = 0;
  return (request, response) =>
    new Observable((subscriber) => {
      if (request.headers[mark] !== undefined) {
        answer(response, 508, 'this scrape comes from an agent: the metrics would be in it twice');
        return;
      }
      if (running >= mostScrapes) {
        answer(response, 503, 'too many scrapes at a time');
        return;
      }
      running += 1;
      subscriber.add(() => (running -= 1));
      counts.begun();
      const { format, contentType } = negotiateFormat(request.headers.accept);
      const timeout = timeoutOf(request.headers['x-prometheus-scrape-timeout-seconds']);
      const fail = (error: unknown) => subscriber.error(error);
      const collect = () => {
        const headers: OutgoingHttpHeaders = {
          accept: accepts[format],
          'user-agent': request.headers['user-agent'] ?? 'pilot-agent',
          'x-prometheus-scrape-timeout-seconds': String((timeout * 0.8) / 1000),
          [mark]: '1',
        };
        const opened = sources.map((source) => openSource(source, headers, subscriber));
        const cut = (round: number) => {
          for (const source of opened) if (source.stage() !== 'answered' || round >= lastRound) source.cut('timeout');
        };
        subscriber.add(timer(timeout * 0.8, timeout * 0.05, scheduler).subscribe({ next: cut, error: fail }));
        const own = async () => [...counts.families(), ...(await firstValueFrom(families$, { defaultValue: [] }))];
        return mergeExposition({ format, sources: opened, report: counts.report, own });
      };
      subscriber.add(timer(timeout, scheduler).subscribe({ next: () => response.destroy(), error: fail })); // nobody waits any more

      response.statusCode = 200;
      response.setHeader('content-type', contentType);
      response.setHeader('vary', 'Accept, Accept-Encoding');
      const compression = compress(request.headers['accept-encoding']);
      if (compression !== undefined) response.setHeader('content-encoding', compression.name);
      const sink: Writable = compression?.create() ?? response;
      if (sink !== response) sink.pipe(response);
      subscriber.add(() => sink.destroy());
      const kind = `${format} ${timeout}`;
      const others = shared.follow(kind);
      const lead = () => shared.lead(kind, collect(), subscriber);
      const pieces = others === undefined ? lead() : followed(others, lead);
      write(pieces, sink).then(() => response.once('close', () => subscriber.complete()), fail);
    });
}

/** What others are given, or one's own where that comes to nothing. */
async function* followed(others: Promise<string | undefined>, lead: () => AsyncIterable<string>): AsyncGenerator<string> {
  const whole = await others;
  if (whole === undefined) yield* lead();
  else yield whole;
}

/** The last piece goes with the end, so that an answer of one piece is one piece on the way too. */
async function write(pieces: AsyncIterable<string>, sink: Writable): Promise<void> {
  let last = '';
  let size = 0;
  for await (const piece of pieces) {
    size += piece.length;
    if (last !== '' && !sink.write(last) && size > mostShared && !sink.destroyed) await drained(sink);
    if (sink.destroyed) return;
    last = piece;
  }
  sink.end(last);
}

function drained(sink: Writable): Promise<void> {
  return new Promise((done) => {
    const settle = () => {
      sink.off('drain', settle).off('close', settle);
      done();
    };
    sink.on('drain', settle).on('close', settle);
  });
}

function timeoutOf(header: string | readonly string[] | undefined): number {
  const ms = Number(header) * 1000;
  return ms > 0 ? Math.min(ms, longestTimeout) : standardTimeout;
}

/** `/stats/prometheus`: Envoy's metrics, those of the applications in their order, then the agent's. */
export function allMetrics({ admin, targets, families$ }: Pick<StatusParts, 'admin' | 'targets' | 'families$'>): Handler {
  const agent = new Agent({ keepAlive: true });
  const envoy: MetricsSource = { type: 'envoy', target: 'envoy', open: (headers) => admin.open('/stats/prometheus', headers) };
  const applications = targets.map(({ port, path }): MetricsSource => {
    return { type: 'application', target: `${port}${path}`, open: (headers) => openAnswer({ host: 'localhost', port, path, headers, agent }) }; // prettier-ignore
  });
  return metrics([envoy, ...applications], families$);
}
