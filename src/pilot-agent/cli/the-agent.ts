import { defer, type Observable } from 'rxjs';
import { type AgentHere, agentsHere } from '../run/end/agents-here.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';

/** What is said where a command had to guess. */
export const nobodyHere = 'no agent is found here';

/**
 * The one agent that runs here; undefined where there is none. Rejects with a {@link Fatal} (64)
 * that names them where there are several, with the flag that says which.
 */
export async function theAgent(
  flagFor: (agent: AgentHere) => string,
): Promise<AgentHere | undefined> {
  const agents = await agentsHere();
  if (agents.length < 2) return agents[0];
  const each = agents.map(
    (agent) =>
      `${flagFor(agent)} (process ${agent.pid}, --configPath ${agent.configPath}, ${statusOf(agent)})`,
  );
  throw new Fatal(
    `${agents.length} agents run here: say which by ${each.join(' or ')}`,
    exitCodes.usage,
  );
}

function statusOf({ statusPort }: AgentHere): string {
  return statusPort === 0 ? 'no status port' : `--statusPort ${statusPort}`;
}

/** The same, each time that it is subscribed. */
export function theAgent$(
  flagFor: (agent: AgentHere) => string,
): Observable<AgentHere | undefined> {
  return defer(() => theAgent(flagFor));
}

export function byFolder({ configPath }: AgentHere): string {
  return `--configPath ${configPath}`;
}

/** Where an agent says whether its proxy is ready; without a status port, Envoy passes it on. */
export function readyUrl({
  statusPort,
  healthPort,
}: Pick<AgentHere, 'statusPort' | 'healthPort'>): string {
  return `http://localhost:${statusPort === 0 ? healthPort : statusPort}/healthz/ready`;
}
