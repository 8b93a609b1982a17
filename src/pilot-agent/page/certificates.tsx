import { lifetime } from '../report/certificate-life.ts';
import { certificateTitle } from '../report/certificate-title.ts';
import type { LiveReport } from '../report/agent-view.ts';
import { age, dayAndClock } from './time-text.ts';

/** Shows the certificates, and how much time each has left. */
export function Certificates({
  all: certificates,
  now,
}: {
  readonly all: LiveReport['certificates'];
  readonly now: number;
}) {
  return (
    <section aria-labelledby="certificates">
      <h2 id="certificates">Certificates</h2>
      {certificates.length === 0 ? (
        <p class="none">Envoy serves none that the agent knows of.</p>
      ) : null}
      <ul class="cards">
        {certificates.map((certificate) => {
          const left = Date.parse(certificate.notAfter) - now;
          const share = Math.min(1, Math.max(0, left / lifetime(certificate)));
          const tone = left <= 0 ? 'bad' : share < 0.1 ? 'warn' : 'ok';
          return (
            <li key={`${certificate.name}${certificate.serialNumber}`}>
              <div class="row">
                <b>{certificateTitle(certificate)}</b>
                <span
                  class={`text-${tone}`}
                  title={`Valid from ${dayAndClock(certificate.notBefore)} to ${dayAndClock(certificate.notAfter)}`}
                >
                  {left <= 0 ? 'expired' : `${age(left)} left`}
                </span>
              </div>
              <div class={`bar ${tone}`} aria-hidden="true">
                <i style={{ width: `${(share * 100).toFixed(1)}%` }} />
              </div>
              <dl class="pairs">
                {certificateTitle(certificate) === certificate.name ? null : (
                  <>
                    <dt>Secret</dt>
                    <dd class="mono">{certificate.name}</dd>
                  </>
                )}
                <dt>Subject</dt>
                <dd class="mono">{certificate.subject === '' ? '(empty)' : certificate.subject}</dd>
                <dt>Names</dt>
                <dd class="mono">
                  {certificate.subjectAltNames.length === 0
                    ? 'none'
                    : certificate.subjectAltNames.join(', ')}
                </dd>
                <dt>Serial</dt>
                <dd class="mono">{certificate.serialNumber}</dd>
                <dt>Until</dt>
                <dd>
                  <time dateTime={certificate.notAfter}>{dayAndClock(certificate.notAfter)}</time>
                </dd>
                <dt>From</dt>
                <dd>
                  {certificate.source}
                  {certificate.by === 'push' ? ', pushed' : ', read by Envoy'}
                </dd>
                {certificate.refused === undefined ? null : (
                  <>
                    <dt>Refused</dt>
                    <dd class="text-bad">{certificate.refused}</dd>
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
