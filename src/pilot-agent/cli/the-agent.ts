import { defer, type Observable } from 'rxjs';
import { type AgentHere, agentsHere } from '../run/end/agents-here.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';

/** The message if a command had to guess the agent. */
export const nobodyHere = 'no agent is found here';

/**
 * Returns the single agent that runs here; undefined if there is none. If there are several,
 * rejects with a {@link Fatal} (64) that names each with the flag that selects it.
 */
export async function theAgent(
  flagFor: (agent: AgentHere) => string,
): Promise<AgentHere | undefined> {
  const agents = await agentsHere();
  if (agents.length < 2) return agents[0];
  const descriptions = agents.map(
    (agent) =>
      `${flagFor(agent)} (process ${agent.pid}, --configPath ${agent.configPath}, ${statusOf(agent)})`,
  );
  throw new Fatal(
    `${agents.length} agents run here: choose one by ${descriptions.join(' or ')}`,
    exitCodes.usage,
  );
}

function statusOf({ statusPort }: AgentHere): string {
  return statusPort === 0 ? 'no status port' : `--statusPort ${statusPort}`;
}

/** As {@link theAgent}, each time that it is subscribed. */
export function theAgent$(
  flagFor: (agent: AgentHere) => string,
): Observable<AgentHere | undefined> {
  return defer(() => theAgent(flagFor));
}

export function byFolder({ configPath }: AgentHere): string {
  return `--configPath ${configPath}`;
}

/**
 * Returns the URL of an agent's readiness; without a status port, that of Envoy's readiness
 * listener.
 */
export function readyUrl({
  statusPort,
  healthPort,
}: Pick<AgentHere, 'statusPort' | 'healthPort'>): string {
  return `http://localhost:${statusPort === 0 ? healthPort : statusPort}/healthz/ready`;
}
