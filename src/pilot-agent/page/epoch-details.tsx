import type { EpochReport } from '../report/epoch-report.ts';
import { changeText, exitText, whyText } from './epoch-text.ts';
import { age, clockWithMs, dayAndClock, duration } from './time-text.ts';
import { crashed } from './timeline.ts';

/** Shows everything about one epoch, as in `/debug/epochs`. */
export function EpochDetails({
  epoch,
  now,
}: {
  readonly epoch: EpochReport;
  readonly now: number;
}) {
  const { launchedAt, spawnedAt, liveAt, toldToDrainAt, endedAt, exit } = epoch;
  const moments: readonly (readonly [
    name: string,
    at: string | undefined,
    ms: number | undefined,
  ])[] = [
    [epoch.why === 'adopted' ? 'Adopted' : 'Launched', launchedAt, undefined],
    ['Spawned', spawnedAt, since(launchedAt, spawnedAt)],
    ['Live', liveAt, epoch.startMs ?? since(launchedAt, liveAt)],
    ['Told to drain', toldToDrainAt, since(launchedAt, toldToDrainAt)],
    ['Ended', endedAt, epoch.lifeMs ?? since(launchedAt, endedAt)],
  ];
  return (
    <section class="details" aria-labelledby="details">
      <h3 id="details">
        Epoch {epoch.epoch} <span class="dim">{epoch.state}</span>
      </h3>
      <ol class="moments">
        {moments.map(([name, time, ms]) =>
          time === undefined ? null : (
            <li key={name}>
              <b>{name}</b>
              <time dateTime={time} title={dayAndClock(time)}>
                {clockWithMs(time)}
              </time>
              <span class="dim">
                {ms === undefined ? `${age(now - Date.parse(time))} ago` : `after ${duration(ms)}`}
              </span>
            </li>
          ),
        )}
      </ol>
      <dl class="pairs">
        <dt>Why</dt>
        <dd>
          {whyText(epoch)}
          {epoch.changed.map((change) => (
            <div class="mono" key={`${change.source}${change.part}`}>
              {changeText(change)}
            </div>
          ))}
        </dd>
        <dt>Process</dt>
        <dd class="mono">{epoch.pid === undefined ? 'none' : `pid ${epoch.pid}`}</dd>
        <dt>Reading</dt>
        <dd class="mono">{epoch.hash}</dd>
        <dt>Lineage</dt>
        <dd class="mono">{epoch.lineage}</dd>
        {epoch.drainMs === undefined ? null : (
          <>
            <dt>Drained for</dt>
            <dd>{duration(epoch.drainMs)}</dd>
          </>
        )}
        {exit === undefined ? null : (
          <>
            <dt>End</dt>
            <dd class={crashed(epoch) ? 'text-bad' : ''}>{exitText(exit)}</dd>
          </>
        )}
      </dl>
      {exit === undefined || exit.lastWords.length === 0 ? null : (
        <div class="words">
          <h4>Last words</h4>
          <pre tabIndex={0} aria-label="Last words">
            {exit.lastWords.join('\n')}
          </pre>
        </div>
      )}
    </section>
  );
}

function since(from: string, to: string | undefined): number | undefined {
  return to === undefined ? undefined : Date.parse(to) - Date.parse(from);
}
