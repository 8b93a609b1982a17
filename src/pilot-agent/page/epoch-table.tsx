import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { EpochReport } from '../report/epoch-report.ts';
import { epochByKey } from './epoch-keys.ts';
import { exitText, lifeText, whyText } from './epoch-text.ts';
import { crashed } from './timeline.ts';
import { clock, dayAndClock, duration } from './time-text.ts';
import { useSize } from './use-size.ts';
import { scrollTo, visibleRows } from './visible-rows.ts';

interface Props {
  readonly epochs: readonly EpochReport[];
  readonly selected: number | undefined;
  readonly select: (epoch: number) => void;
  readonly now: number;
}

/** In pixels, as in the style. */
const [rowHeight, headHeight] = [26, 28] as const;

/** Shows the epochs as a table, newest first: the timeline in words. Renders only visible rows. */
export function EpochTable({ epochs, selected, select, now }: Props) {
  const [place, { height }] = useSize<HTMLDivElement>({ width: 0, height: 260 });
  const body = useRef<HTMLTableSectionElement>(null);
  const [top, setTop] = useState(0);
  const rows = useMemo(() => epochs.toReversed(), [epochs]);
  const { first, last } = visibleRows(rows.length, top, height - headHeight, rowHeight);
  const box = body.current?.closest('div');
  useEffect(() => {
    const index = rows.findIndex(({ epoch }) => epoch === selected);
    if (box !== null && box !== undefined && index >= 0)
      box.scrollTop = scrollTo(index, box.scrollTop, box.clientHeight - headHeight, rowHeight);
    // A new row must not move the rows that a user reads.
  }, [selected]);
  const onKeyDown = (event: KeyboardEvent) => {
    const to = epochByKey(epochs, selected, event.key, 'down');
    if (to === undefined) return;
    event.preventDefault();
    select(to);
  };
  return (
    <div
      class="table"
      ref={place}
      tabIndex={0}
      role="group"
      aria-label="Table of the epochs, arrow keys select one"
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
    >
      <table aria-rowcount={rows.length + 1} class="epoch-table">
        <thead>
          <tr aria-rowindex={1}>
            <th scope="col">Epoch</th>
            <th scope="col">State</th>
            <th scope="col">Why</th>
            <th scope="col" class="right">
              Pid
            </th>
            <th scope="col">Launched</th>
            <th scope="col" class="right">
              Start
            </th>
            <th scope="col" class="right">
              Life
            </th>
            <th scope="col">End</th>
          </tr>
        </thead>
        <tbody ref={body}>
          <tr aria-hidden="true" class="room" style={{ height: `${first * rowHeight}px` }} />
          {rows.slice(first, last).map((epoch, index) => (
            <tr
              key={epoch.epoch}
              aria-rowindex={first + index + 2}
              class={epoch.epoch === selected ? 'selected' : ''}
              aria-current={epoch.epoch === selected}
              onClick={() => select(epoch.epoch)}
            >
              <th scope="row">{epoch.epoch}</th>
              <td>
                <span class={`dot ${toneOf(epoch)}`}>
                  {epoch.answering === false ? 'silent' : crashed(epoch) ? 'crashed' : epoch.state}
                </span>
              </td>
              <td title={whyText(epoch)}>{whyText(epoch)}</td>
              <td class="right mono">{epoch.pid ?? '–'}</td>
              <td>
                <time dateTime={epoch.launchedAt} title={dayAndClock(epoch.launchedAt)}>
                  {isToday(epoch.launchedAt, now)
                    ? clock(epoch.launchedAt)
                    : dayAndClock(epoch.launchedAt).slice(5, -3)}
                </time>
              </td>
              <td class="right">{epoch.startMs === undefined ? '–' : duration(epoch.startMs)}</td>
              <td class="right">{lifeText(epoch, now)}</td>
              <td title={epoch.exit === undefined ? '' : exitText(epoch.exit)}>
                {epoch.exit === undefined ? '' : exitText(epoch.exit)}
              </td>
            </tr>
          ))}
          <tr
            aria-hidden="true"
            class="room"
            style={{ height: `${(rows.length - last) * rowHeight}px` }}
          />
        </tbody>
      </table>
    </div>
  );
}

const isToday = (time: string, now: number) =>
  dayAndClock(time).slice(0, 10) === dayAndClock(now).slice(0, 10);

function toneOf(epoch: EpochReport): string {
  if (crashed(epoch) || epoch.answering === false) return 'bad';
  switch (epoch.state) {
    case 'starting':
      return 'warn';
    case 'live':
      return 'ok';
    case 'draining':
    case 'stopping':
      return 'drain';
    case 'ended':
      return 'idle';
  }
}
