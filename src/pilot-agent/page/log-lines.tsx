import { Fragment } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Logged } from './page-state.ts';
import { firstAfter } from './log-filter.ts';
import { clockWithMs, dayAndClock } from './time-text.ts';
import { useSize } from './use-size.ts';
import { scrollTo, visibleRows } from './visible-rows.ts';

/** In pixels, as in the style. */
const rowHeight = 20;

/**
 * Shows lines of the log. Renders only visible lines. At the end of the list it follows new lines.
 */
export function LogLines({ lines }: { readonly lines: readonly Logged[] }) {
  const [place, { height }] = useSize<HTMLDivElement>({ width: 0, height: 320 });
  const [top, setTop] = useState(0);
  const [follows, setFollows] = useState(true);
  const [selected, setSelected] = useState<number>();
  const box = place.current;
  const { first, last } = visibleRows(lines.length, top, height, rowHeight);
  useLayoutEffect(() => {
    if (follows && box !== null) box.scrollTop = lines.length * rowHeight;
  }, [lines, follows, box]);
  const nearest = selected === undefined ? -1 : firstAfter(lines, selected) - 1;
  const position = lines[nearest]?.id === selected ? nearest : -1;
  const line = position === -1 ? undefined : lines[position];
  const go = (index: number) => {
    const to = Math.min(lines.length - 1, Math.max(0, index));
    setFollows(to === lines.length - 1);
    setSelected(lines[to]?.id);
    if (box !== null) box.scrollTop = scrollTo(to, box.scrollTop, box.clientHeight, rowHeight);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.floor(height / rowHeight) - 1;
    const from = position === -1 ? lines.length - 1 : position;
    const to = {
      ArrowUp: from - 1,
      ArrowDown: from + 1,
      PageUp: from - page,
      PageDown: from + page,
      Home: 0,
      End: lines.length - 1,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  };
  const onScroll = ({
    currentTarget: { scrollTop, scrollHeight, clientHeight },
  }: {
    readonly currentTarget: HTMLDivElement;
  }) => {
    setTop(scrollTop);
    setFollows(scrollTop + clientHeight >= scrollHeight - rowHeight);
  };
  return (
    <>
      <div
        class="lines"
        ref={place}
        role="listbox"
        aria-label="Lines of the log"
        tabIndex={0}
        {...(position >= first && position < last
          ? { 'aria-activedescendant': `line-${selected}` }
          : {})}
        onKeyDown={onKeyDown}
        onScroll={onScroll}
      >
        <div role="none" style={{ height: `${lines.length * rowHeight}px` }}>
          {lines.length === 0 ? (
            <div role="option" aria-selected="false" aria-disabled="true" class="none">
              No line passes the filters.
            </div>
          ) : null}
          {lines.slice(first, last).map((row, index) => (
            <Line
              key={row.id}
              line={row}
              index={first + index}
              count={lines.length}
              isSelected={row.id === selected}
              choose={() => go(first + index)}
            />
          ))}
        </div>
      </div>
      {follows ? null : (
        <button type="button" class="newest" onClick={() => go(lines.length - 1)}>
          To the newest line ↓
        </button>
      )}
      {line === undefined ? null : <LineDetails line={line} />}
    </>
  );
}

interface LineProps {
  readonly line: Logged;
  readonly index: number;
  readonly count: number;
  readonly isSelected: boolean;
  readonly choose: () => void;
}

function Line({
  line: { id, at: loggedAt, level, component, epoch, msg, fields },
  index,
  count,
  isSelected,
  choose,
}: LineProps) {
  return (
    <div
      id={`line-${id}`}
      role="option"
      aria-selected={isSelected}
      aria-posinset={index + 1}
      aria-setsize={count}
      class={`line ${level}`}
      style={{ top: `${index * rowHeight}px` }}
      onClick={choose}
    >
      <span class="at">{clockWithMs(loggedAt)}</span> <span class="level">{level}</span>{' '}
      <span class="component">{component}</span> <span class="number">{epoch ?? ''}</span>{' '}
      <span class="msg">{msg}</span> <span class="fields">{fieldsText(fields)}</span>
    </div>
  );
}

function LineDetails({
  line: { at: loggedAt, level, component, event, epoch, msg, fields },
}: {
  readonly line: Logged;
}) {
  return (
    <section class="line-details" aria-label="The line that is selected">
      <p>
        <b>{msg}</b> <span class="dim">{dayAndClock(loggedAt)}</span>
      </p>
      <dl class="pairs">
        <dt>Event</dt>
        <dd class="mono">{event}</dd>
        <dt>Level</dt>
        <dd>{level}</dd>
        <dt>Component</dt>
        <dd>{component}</dd>
        {epoch === undefined ? null : (
          <>
            <dt>Epoch</dt>
            <dd>{epoch}</dd>
          </>
        )}
        {Object.entries(fields).map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd class="mono">{valueText(value)}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}

const valueText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const fieldsText = (fields: Logged['fields']) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(' ');
