import type { LiveReport } from '../report/agent-view.ts';
import { age, dayAndClock } from './time-text.ts';

const tones: Readonly<Record<LiveReport['sources'][number]['state'], string>> = {
  read: 'ok',
  unread: 'idle',
  failing: 'bad',
  ignored: 'idle',
};

/** Shows the sources of configuration: the state of each, and when it last changed. */
export function SourceTable({
  all: sources,
  now,
}: {
  readonly all: LiveReport['sources'];
  readonly now: number;
}) {
  return (
    <section aria-labelledby="sources">
      <h2 id="sources">Sources</h2>
      {sources.length === 0 ? (
        <p class="none">None besides the files that are always watched.</p>
      ) : null}
      {sources.length === 0 ? null : (
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
            {sources.map((source) => (
              <tr key={source.name}>
                <td
                  title={`${source.kind ?? source.name}${source.effect === undefined ? '' : `; a change leads to: ${source.effect}`}; sha256 ${source.hash}`}
                >
                  <b>{source.name}</b>
                  {source.reason === undefined ? null : <div class="text-bad">{source.reason}</div>}
                </td>
                <td>
                  <span class={`dot ${tones[source.state]}`}>{source.state}</span>
                </td>
                <td class="right">
                  {source.changedAt === undefined ? (
                    <span class="dim">never</span>
                  ) : (
                    <time dateTime={source.changedAt} title={dayAndClock(source.changedAt)}>
                      {age(now - Date.parse(source.changedAt))} ago
                    </time>
                  )}
                  <div class="dim">
                    {source.changes} {source.changes === 1 ? 'change' : 'changes'}
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
