import { standing } from '../report/standing.ts';
import type { PageState } from './page-state.ts';
import { Orders } from './orders.tsx';
import { age, clock } from './time-text.ts';

/** Shows the head of the page: the agent, its state, and the orders that it accepts. */
export function Masthead({
  link,
  report,
  now,
}: Pick<PageState, 'link' | 'report'> & { readonly now: number }) {
  const stands = report && standing(report);
  return (
    <header class="masthead">
      <h1>pilot-agent</h1>
      {report === undefined ? null : (
        <>
          <span class="node" title={report.agent.nodeId}>
            {report.agent.nodeId}
          </span>
          <span class={`state ${stands?.tone ?? ''}`}>{stands?.text}</span>
        </>
      )}
      <LinkState link={link} now={now} />
      {report === undefined ? null : (
        <Orders isEnabled={link.kind === 'connected'} phase={report.phase} />
      )}
    </header>
  );
}

function LinkState({ link, now }: Pick<PageState, 'link'> & { readonly now: number }) {
  switch (link.kind) {
    case 'connecting':
      return <span class="link">connecting …</span>;
    case 'connected':
      return (
        <span class="link" title="The page shows the present state of the agent">
          <i class="pulse" />
          live {clock(now)}
        </span>
      );
    case 'away':
      return (
        <span class="link away" title={link.reason}>
          away for {age(now - link.since)}: {link.reason}
        </span>
      );
  }
}
