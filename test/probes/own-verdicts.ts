import { Agent } from 'node:http';
import { catchError, firstValueFrom, map, NEVER, of, timeout } from 'rxjs';
import {
  type FaultReason,
  openSource,
  ScrapeFault,
} from '../../src/pilot-agent/status/scrape/metrics-source.ts';
import { readLines } from '../../src/pilot-agent/status/scrape/read-lines.ts';
import { openMetrics } from '../../src/pilot-agent/status/scrape/open-metrics.ts';
import { probeHttp } from '../../src/pilot-agent/status/probe/probe-http.ts';
import { type RawAnswer, rawServer } from './raw-server.ts';
import type { Verdict } from './verdicts.ts';

const within = 5_000;

export interface OwnVerdict extends Verdict {
  /** The reason why a scrape has no rows, or not all. */
  readonly reason?: FaultReason;
}

/** Resolves to the verdict of the agent about an answer. */
async function ownVerdict(answer: RawAnswer): Promise<OwnVerdict> {
  const { port, close } = await rawServer(answer);
  try {
    return { probe: await probed(port), ...(await scraped(port)) };
  } finally {
    close();
  }
}

/** Resolves to the verdicts of the agent about all answers, by their names. */
export async function ownVerdicts(
  answers: readonly RawAnswer[],
): Promise<Readonly<Record<string, OwnVerdict>>> {
  const verdicts: [string, OwnVerdict][] = [];
  for (const answer of answers) verdicts.push([answer.name, await ownVerdict(answer)]);
  return Object.fromEntries(verdicts);
}

function probed(port: number): Promise<number> {
  const probe = {
    kind: 'http',
    timeout: within,
    host: 'localhost',
    port,
    path: '/app/ready',
    secure: false,
    headers: [],
  } as const;
  const status$ = probeHttp(probe, ['localhost'], {}).pipe(
    map(({ status }) => status),
    timeout(within),
    catchError(() => of(500)),
  );
  return firstValueFrom(status$, { defaultValue: 0 });
}

async function scraped(port: number): Promise<Omit<OwnVerdict, 'probe'>> {
  const agent = new Agent();
  const opened = {
    type: 'application',
    target: '',
    open: () => openMetrics({ port, path: '/app/metrics', headers: {}, agent }),
  } as const;
  const source = openSource(opened, {}, NEVER);
  try {
    const answer = await source.read();
    if (answer.statusCode !== 200) return { scrape: 'status' };
    const pieces: Buffer[] = [];
    for await (const lines of readLines(answer)) pieces.push(lines);
    return { scrape: Buffer.concat(pieces).toString().startsWith('up ') ? 'rows' : 'no rows' };
  } catch (error) {
    if (!(error instanceof ScrapeFault)) throw error;
    return { scrape: error.reason === 'cut_off' ? 'cut off' : 'no answer', reason: error.reason };
  } finally {
    source.unsubscribe();
    agent.destroy();
  }
}
