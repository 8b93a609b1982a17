import type { LiveReport } from '../report/heard.ts';
import { age, dayAndClock } from './time-text.ts';

const tones: Readonly<Record<LiveReport['sources'][number]['state'], string>> = {
  read: 'ok',
  unread: 'idle',
  failing: 'bad',
  ignored: 'idle',
};

/** Shows the sources of configuration: the state of each, and when it last changed. */
export function SourceTable({
  all,
  now,
}: {
  readonly all: LiveReport['sources'];
  readonly now: number;
}) {
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">Sources</h2>
      {all.length === 0 ? (
        <p class="none">None besides the files that are always watched.</p>
      ) : null}
      {all.length === 0 ? null : (
        <table>
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">State</th>
              <th scope="col" class="right">
                Changed
              </th>
            </tr>
          </thead>
          <tbody>
            {all.map((one) => (
              <tr key={one.name}>
                <td
                  title={`${one.kind ?? one.name}${one.effect === undefined ? '' : `; a change leads to: ${one.effect}`}; sha256 ${one.hash}`}
                >
                  <b>{one.name}</b>
                  {one.reason === undefined ? null : <div class="text-bad">{one.reason}</div>}
                </td>
                <td>
                  <span class={`dot ${tones[one.state]}`}>{one.state}</span>
                </td>
                <td class="right">
                  {one.changedAt === undefined ? (
                    <span class="dim">never</span>
                  ) : (
                    <time dateTime={one.changedAt} title={dayAndClock(one.changedAt)}>
                      {age(now - Date.parse(one.changedAt))} ago
                    </time>
                  )}
                  <div class="dim">
                    {one.changes} {one.changes === 1 ? 'change' : 'changes'}
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
