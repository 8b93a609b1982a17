import { lifetime } from '../report/certificate-life.ts';
import { certificateTitle } from '../report/certificate-title.ts';
import type { LiveReport } from '../report/heard.ts';
import { age, dayAndClock } from './time-text.ts';

/** Shows the certificates, and how much time each has left. */
export function Certificates({
  all,
  now,
}: {
  readonly all: LiveReport['certificates'];
  readonly now: number;
}) {
  return (
    <section aria-labelledby="certificates">
      <h2 id="certificates">Certificates</h2>
      {all.length === 0 ? <p class="none">Envoy serves none that the agent knows of.</p> : null}
      <ul class="cards">
        {all.map((one) => {
          const left = Date.parse(one.notAfter) - now;
          const share = Math.min(1, Math.max(0, left / lifetime(one)));
          const tone = left <= 0 ? 'bad' : share < 0.1 ? 'warn' : 'ok';
          return (
            <li key={`${one.name}${one.serialNumber}`}>
              <div class="row">
                <b>{certificateTitle(one)}</b>
                <span
                  class={`text-${tone}`}
                  title={`Valid from ${dayAndClock(one.notBefore)} to ${dayAndClock(one.notAfter)}`}
                >
                  {left <= 0 ? 'expired' : `${age(left)} left`}
                </span>
              </div>
              <div class={`bar ${tone}`} aria-hidden="true">
                <i style={{ width: `${(share * 100).toFixed(1)}%` }} />
              </div>
              <dl class="pairs">
                {certificateTitle(one) === one.name ? null : (
                  <>
                    <dt>Secret</dt>
                    <dd class="mono">{one.name}</dd>
                  </>
                )}
                <dt>Subject</dt>
                <dd class="mono">{one.subject === '' ? '(empty)' : one.subject}</dd>
                <dt>Names</dt>
                <dd class="mono">
                  {one.subjectAltNames.length === 0 ? 'none' : one.subjectAltNames.join(', ')}
                </dd>
                <dt>Serial</dt>
                <dd class="mono">{one.serialNumber}</dd>
                <dt>Until</dt>
                <dd>
                  <time dateTime={one.notAfter}>{dayAndClock(one.notAfter)}</time>
                </dd>
                <dt>From</dt>
                <dd>
                  {one.source}
                  {one.by === 'push' ? ', pushed' : ', read by Envoy'}
                </dd>
                {one.refused === undefined ? null : (
                  <>
                    <dt>Refused</dt>
                    <dd class="text-bad">{one.refused}</dd>
                  </>
                )}
              </dl>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
