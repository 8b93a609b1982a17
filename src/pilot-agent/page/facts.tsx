import type { ComponentChildren } from 'preact';
import { servingEpoch, standing } from '../report/standing.ts';
import type { EpochReport } from '../report/epoch-report.ts';
import type { TrafficReport } from '../report/live-events.ts';
import type { LiveReport } from '../report/agent-view.ts';
import { number, perSecond } from './number-text.ts';
import { age, duration } from './time-text.ts';

interface Props {
  readonly report: LiveReport;
  readonly epochs: readonly EpochReport[];
  readonly traffic: readonly TrafficReport[];
  /** The agent cannot be reached. */
  readonly isAway: boolean;
  readonly now: number;
}

/** Shows the few facts that users need most. */
export function Facts({ report, epochs, traffic, isAway, now }: Props) {
  const { agent, readyAfterMs, next, controlPlane, certificates } = report;
  const failures = rate(traffic, 'failures');
  const serving = servingEpoch(epochs);
  const stands = standing(report);
  // Earlier counts say nothing about the present.
  const shown = (value: number) => (serving === undefined || isAway ? '–' : perSecond(value));
  const first = certificates
    .map(({ notAfter }) => Date.parse(notAfter))
    .sort((left, right) => left - right)[0];
  return (
    <dl class="facts">
      <Fact name="Up for">{age(now - Date.parse(agent.startedAt))}</Fact>
      <Fact
        name="Ready"
        tone={stands.tone === 'ok' ? '' : stands.tone}
        more={readyAfterMs === undefined ? '' : `first after ${duration(readyAfterMs)}`}
      >
        {stands.isReady ? 'yes' : 'no'}
      </Fact>
      <Fact
        name="Epoch"
        tone={serving === undefined ? 'bad' : ''}
        more={
          serving?.liveAt === undefined ? '' : `live for ${age(now - Date.parse(serving.liveAt))}`
        }
      >
        {serving?.epoch ?? 'none'}
      </Fact>
      {next === undefined ? null : (
        <Fact name="Next" tone="drain" more={next.stage}>
          {next.epoch}
        </Fact>
      )}
      <Fact name="Requests" more={`${number(traffic.at(-1)?.requests ?? 0)} in all`}>
        {shown(rate(traffic, 'requests'))}
      </Fact>
      <Fact
        name="Failures"
        tone={failures === 0 || serving === undefined || isAway ? '' : 'bad'}
        more={`${number(traffic.at(-1)?.failures ?? 0)} in all`}
      >
        {shown(failures)}
      </Fact>
      {controlPlane === undefined ? null : (
        <Fact
          name="Control plane"
          tone={controlPlane.state === 'unavailable' ? 'bad' : ''}
          more={
            controlPlane.pushedAt === undefined
              ? ''
              : `sent ${age(now - Date.parse(controlPlane.pushedAt))} ago`
          }
        >
          {controlPlane.state === 'unknown' ? 'used by Envoy' : controlPlane.state}
        </Fact>
      )}
      {first === undefined ? null : (
        <Fact name="Certificate" tone={first <= now ? 'bad' : ''} more="until it expires">
          {first <= now ? 'expired' : age(first - now)}
        </Fact>
      )}
      <Fact name="Envoy">{agent.envoy.version ?? 'unknown'}</Fact>
    </dl>
  );
}

interface FactProps {
  readonly name: string;
  readonly tone?: '' | 'bad' | 'drain';
  readonly more?: string;
  readonly children: ComponentChildren;
}

function Fact({ name, tone = '', more = '', children }: FactProps) {
  return (
    <div class={tone}>
      <dt>{name}</dt>
      <dd>{children}</dd>
      {more === '' ? null : <dd class="more">{more}</dd>}
    </div>
  );
}

/** Returns the rate per second over the newest four reports, so that it does not flicker. */
function rate(traffic: readonly TrafficReport[], what: 'requests' | 'failures'): number {
  const [before, now] = [traffic.at(-4) ?? traffic[0], traffic.at(-1)];
  const ms =
    before === undefined || now === undefined ? 0 : Date.parse(now.at) - Date.parse(before.at);
  return before === undefined || now === undefined || ms <= 0
    ? 0
    : (Math.max(0, now[what] - before[what]) / ms) * 1000;
}
