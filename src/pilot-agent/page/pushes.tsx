import type { LiveReport } from '../report/agent-view.ts';
import { clock, dayAndClock } from './time-text.ts';

/** The number of pushes that are shown. */
const most = 8;

/** Shows the newest pushes of secrets, and Envoy's answers. */
export function Pushes({ all: pushes }: { readonly all: LiveReport['pushes'] }) {
  if (pushes.length === 0) return null;
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
          {pushes
            .slice(-most)
            .reverse()
            .map(({ at: pushedAt, secret, version, state, reason }) => (
              <tr key={`${pushedAt}${secret}${version}`}>
                <td>
                  <time dateTime={pushedAt} title={dayAndClock(pushedAt)}>
                    {clock(pushedAt)}
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
