import { Fragment } from 'preact';
import type { LiveReport } from '../report/agent-view.ts';
import { age, dayAndClock } from './time-text.ts';

interface Props {
  readonly controlPlane: LiveReport['controlPlane'];
  readonly now: number;
}

/** Shows the status of the control plane. */
export function ControlPlane({ controlPlane, now }: Props) {
  if (controlPlane === undefined) return null;
  const { address, by, state, reason, since, pushedAt, storedOf, rejected } = controlPlane;
  const ago = (time: string) => (
    <time dateTime={time} title={dayAndClock(time)}>
      {age(now - Date.parse(time))} ago
    </time>
  );
  return (
    <section aria-labelledby="control-plane">
      <h2 id="control-plane">Control plane</h2>
      <dl class="pairs">
        <dt>Address</dt>
        <dd class="mono">{address}</dd>
        <dt>State</dt>
        <dd>
          <span
            class={`dot ${state === 'answering' ? 'ok' : state === 'unavailable' ? 'bad' : 'idle'}`}
          >
            {state}
          </span>
          {by === 'envoy' ? <span class="dim"> Envoy itself connects to it</span> : null}
          {since === undefined ? null : (
            <span class="dim"> for {age(now - Date.parse(since))}</span>
          )}
          {reason === undefined ? null : <div class="text-bad">{reason}</div>}
        </dd>
        {pushedAt === undefined ? null : (
          <>
            <dt>Has sent</dt>
            <dd>{ago(pushedAt)}</dd>
          </>
        )}
        {storedOf === undefined ? null : (
          <>
            <dt>Stored</dt>
            <dd>Envoy serves what was confirmed {ago(storedOf)}</dd>
          </>
        )}
        {rejected.map(({ type, at: rejectedAt, reason: why }) => (
          <Fragment key={type}>
            <dt>Rejected</dt>
            <dd>
              {type}, {ago(rejectedAt)}
              <div class="text-bad">{why}</div>
            </dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}
