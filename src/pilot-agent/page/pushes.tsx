import type { LiveReport } from '../report/heard.ts';
import { clock, dayAndClock } from './time-text.ts';

/** The number of pushes that are shown. */
const most = 8;

/** Shows the newest pushes of secrets, and Envoy's answers. */
export function Pushes({ all }: { readonly all: LiveReport['pushes'] }) {
  if (all.length === 0) return null;
  return (
    <section aria-labelledby="pushes">
      <h2 id="pushes">Pushes of secrets</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">At</th>
            <th scope="col">Secret</th>
            <th scope="col">Envoy</th>
          </tr>
        </thead>
        <tbody>
          {all
            .slice(-most)
            .reverse()
            .map(({ at, secret, version, state, reason }) => (
              <tr key={`${at}${secret}${version}`}>
                <td>
                  <time dateTime={at} title={dayAndClock(at)}>
                    {clock(at)}
                  </time>
                </td>
                <td title={`Version ${version}`}>{secret}</td>
                <td>
                  <span
                    class={`dot ${state === 'accepted' ? 'ok' : state === 'rejected' ? 'bad' : 'idle'}`}
                  >
                    {state}
                  </span>
                  {reason === undefined ? null : <div class="text-bad">{reason}</div>}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </section>
  );
}
