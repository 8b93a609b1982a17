import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  askForCertificate,
  type CallOutcome,
  type CertificateCall,
  certificateRequest,
  type SecureClient,
  secureSession,
} from './secure-calls.ts';

/** Requests of one identity at a fixed rate, whether they are answered or not. */
export interface Flood {
  readonly client: SecureClient;
  readonly call: CertificateCall;
  readonly perSecond: number;
  readonly seconds: number;
  /** The number of connections; `new` for one connection for each request. */
  readonly connections: number | 'new';
}

/** The results of the requests of a flood. */
export interface FloodOutcome {
  /** The number of requests with each status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** The last outcome of each status. */
  readonly some: readonly CallOutcome[];
  /** The number of requests per second that were really sent. */
  readonly perSecond: number;
}

/** A process that floods, so that its work costs the measured client no time. */
export interface Flooder {
  flood(flood: Flood): Promise<FloodOutcome>;
  dispose(): Promise<void>;
}

export async function startFlooder(): Promise<Flooder> {
  const child: ChildProcess = fork(import.meta.filename, { execArgv: ['--import', 'tsx'] });
  const nextMessage = async () => ((await once(child, 'message')) as [unknown])[0];
  await nextMessage();
  return {
    async flood(flood) {
      child.send(flood);
      return (await nextMessage()) as FloodOutcome;
    },
    async dispose() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** In ms: requests are sent in steps of this length. */
const step = 10;

async function carryOut({ client, call, ...how }: Flood): Promise<FloodOutcome> {
  const bytes = certificateRequest(call);
  const sessions = Array.from({ length: how.connections === 'new' ? 0 : how.connections }, () =>
    secureSession(client),
  );
  await Promise.all(sessions.map((session) => once(session, 'connect')));
  const outcomes: Promise<CallOutcome>[] = [];
  const ask = async (index: number): Promise<CallOutcome> => {
    const session = sessions[index % sessions.length] ?? secureSession(client);
    const outcome = await askForCertificate(session, bytes, call.token);
    if (how.connections === 'new') session.destroy();
    return outcome;
  };
  const begun = performance.now();
  for (;;) {
    const passed = Math.min(performance.now() - begun, how.seconds * 1_000);
    while (outcomes.length < (passed / 1_000) * how.perSecond) outcomes.push(ask(outcomes.length));
    if (passed >= how.seconds * 1_000) break;
    await sleep(step);
  }
  const took = (performance.now() - begun) / 1_000;
  const all = await Promise.all(outcomes);
  for (const session of sessions) session.destroy();
  const statuses: Record<string, number> = {};
  for (const { status } of all) statuses[status] = (statuses[status] ?? 0) + 1;
  const some = Object.keys(statuses).flatMap((name) =>
    all.filter(({ status }) => status === name).slice(-1),
  );
  return { statuses, some, perSecond: Math.round(all.length / took) };
}

if (process.argv[1] === import.meta.filename && process.send !== undefined) {
  process.on('message', (flood: Flood) => {
    carryOut(flood).then(
      (outcome) => process.send?.(outcome),
      (error: unknown) => {
        throw error;
      },
    );
  });
  process.on('disconnect', () => process.exit());
  process.send('ready');
}
