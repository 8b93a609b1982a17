import type { LiveReport } from '../report/agent-view.ts';
import { dayAndClock } from './time-text.ts';

/** Shows the agent as a program, and its counters since its start. */
export function AgentFacts({ report: { agent, counters } }: { readonly report: LiveReport }) {
  const pairs: readonly (readonly [name: string, value: string])[] = [
    ['Version', `${agent.version}, Node ${agent.node.replace(/^v/, '')}, pid ${agent.pid}`],
    ['Started', dayAndClock(agent.startedAt)],
    ['Role', agent.role],
    ['Node id', agent.nodeId],
    ['Folder', agent.configPath],
    [
      'Ports',
      `status ${agent.statusPort === 0 ? 'none' : agent.statusPort}, admin ${agent.adminPort}`,
    ],
    ['Envoy', agent.envoy.path],
    ['Configuration', agent.configuration],
  ];
  return (
    <section aria-labelledby="agent">
      <h2 id="agent">Agent</h2>
      <dl class="pairs">
        {pairs.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd class="mono">{value}</dd>
          </>
        ))}
      </dl>
      <h3>Since its start</h3>
      <dl class="counts">
        {Object.entries(counters).map(([name, count]) => (
          <div key={name}>
            <dt>{words(name)}</dt>
            <dd>{count}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Writes `configChanges` as words. */
const words = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
