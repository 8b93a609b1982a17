import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { defer, firstValueFrom, forkJoin, map, Observable, of, timeout } from 'rxjs';
import * as z from 'zod/mini';

const form = z.object({
  pid: z.number(),
  version: z.string(),
  configPath: z.string(),
  statusPort: z.number(),
  proxyAdminPort: z.number(),
  healthPort: z.number(),
});

/** An agent as it tells the commands that talk to one. `pid` is that of its own namespace. */
export type AgentHere = Readonly<z.output<typeof form>>;

/** How long an agent may take to answer; one that is stopped does not. In ms. */
const timeoutMs = 300;
/**
 * Abstract sockets are as wide as the network: whoever can reach the ports of an agent can find it,
 * of another user, in another container of the pod, or where /proc does not show it.
 */
const width = 107;
const name = /@(pilot-agent\/[0-9a-f]{16}-+)@*$/;

/**
 * Tells each who asks on this machine, or in this pod, about the agent, until the process ends.
 * Nothing of it is secret, and nothing can be ordered here. Where there can be no socket, the agent
 * is not found, and that is all.
 */
export function tellOf(agent: AgentHere): void {
  const socket = `pilot-agent/${randomBytes(8).toString('hex')}`.padEnd(width, '-'); // full width: Nodes differ in what they add
  createServer((asking) => asking.on('error', () => asking.destroy()).end(JSON.stringify(agent)))
    .on('error', () => undefined)
    .listen(`\0${socket}`)
    .unref();
}

/** The agents that run here and answer, by process id. */
export function agentsHere(): Promise<readonly AgentHere[]> {
  const agents$ = defer(() => {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n');
    const sockets = new Set(lines.flatMap((line) => name.exec(line)?.[1] ?? []));
    return forkJoin([...sockets].map(ask));
  }).pipe(map((answers) => answers.filter((agent) => agent !== undefined).sort((one, other) => one.pid - other.pid)));
  return firstValueFrom(agents$, { defaultValue: [] });
}

/** Emits what is answered, undefined for nothing that makes sense, and completes. Never errors. */
function ask(socket: string): Observable<AgentHere | undefined> {
  return new Observable<AgentHere | undefined>((subscriber) => {
    let said = '';
    const connection = connect(`\0${socket}`).setEncoding('utf8');
    connection.on('data', (piece: string) => (said += piece));
    connection.on('error', () => undefined);
    connection.on('close', () => {
      subscriber.next(agentIn(said));
      subscriber.complete();
    });
    return () => connection.destroy();
  }).pipe(timeout({ first: timeoutMs, with: () => of(undefined) }));
}

function agentIn(text: string): AgentHere | undefined {
  try {
    const agent = z.parse(form, JSON.parse(text));
    return /^[^\p{Cc}]+$/u.test(agent.configPath + agent.version) ? agent : undefined; // it is printed to a terminal
  } catch {
    return undefined;
  }
}
