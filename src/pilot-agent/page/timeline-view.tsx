import { useSize } from './use-size.ts';
import type { EpochReport } from '../report/epoch-report.ts';
import { epochByKey } from './epoch-keys.ts';
import { epochText } from './epoch-text.ts';
import type { LiveReport } from '../report/agent-view.ts';
import { age, clock } from './time-text.ts';
import { type Drawn, drawn, scale, type Span, ticks } from './timeline.ts';
import { around, type Window } from './window.ts';

interface Props {
  readonly epochs: readonly EpochReport[];
  readonly marked: LiveReport['pushes'];
  readonly refused: LiveReport['refused'] | undefined;
  readonly span: Span;
  readonly now: number;
  readonly selected: number | undefined;
  readonly select: (epoch: number) => void;
  readonly zoom: (window: Window) => void;
}

/** In pixels. */
const [laneHeight, barHeight, marksHeight, axisHeight] = [26, 18, 14, 18] as const;
/** The maximum number of lanes: the lowest one takes the rest. */
const mostLanes = 8;

/**
 * Shows the epochs over time: starting, live, draining, ended, crashed. The table below shows the
 * same.
 */
export function TimelineView({
  epochs,
  marked,
  refused,
  span,
  now,
  selected,
  select,
  zoom,
}: Props) {
  const [place, { width }] = useSize<HTMLDivElement>({ width: 800, height: 0 });
  const shapes = drawn(epochs, span, now, width, selected);
  const lanes = Math.min(mostLanes, 1 + Math.max(1, ...shapes.map(({ lane }) => lane)));
  const height = marksHeight + lanes * laneHeight + axisHeight;
  const xOf = scale(span, width);
  const topOf = (lane: number) =>
    marksHeight + Math.min(lane, lanes - 1) * laneHeight + (laneHeight - barHeight) / 2;
  const isShown = shapes.some((shape) => shape.kind === 'epoch' && shape.epoch.epoch === selected);
  const onKeyDown = (event: KeyboardEvent) => {
    const to = epochByKey(epochs, selected, event.key, 'across');
    if (to === undefined) return;
    event.preventDefault();
    select(to);
  };
  return (
    <div class="timeline" ref={place}>
      {epochs.length === 0 ? <p class="none">No epoch has been started yet.</p> : null}
      <div
        role="listbox"
        aria-label="Timeline of the epochs"
        aria-orientation="horizontal"
        tabIndex={0}
        {...(isShown ? { 'aria-activedescendant': `bar-${selected}` } : {})}
        onKeyDown={onKeyDown}
        hidden={epochs.length === 0}
      >
        <svg role="none" width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
          <Axis span={span} width={width} height={height} />
          <Marks marked={marked} refused={refused} now={now} span={span} width={width} />
          {shapes.map((shape) =>
            shape.kind === 'epoch' ? (
              <Bar
                key={shape.epoch.epoch}
                drawn={shape}
                top={topOf(shape.lane)}
                isSelected={shape.epoch.epoch === selected}
                label={epochText(shape.epoch, now)}
                select={select}
              />
            ) : (
              <g
                key={`cluster-${shape.span.from}`}
                class="cluster"
                aria-hidden="true"
                onClick={() => zoom(around(shape.span))}
              >
                <title>{`${shape.count} epochs from ${clock(shape.span.from)} to ${clock(shape.span.to)}, ${shape.crashed} of them crashed. A click shows them.`}</title>
                <rect
                  x={shape.x}
                  y={topOf(shape.lane)}
                  width={shape.width}
                  height={barHeight}
                  rx="2"
                  class={shape.crashed > 0 ? 'crashed' : ''}
                />
                {shape.width > 26 ? (
                  <text
                    x={shape.x + shape.width / 2}
                    y={topOf(shape.lane) + 13}
                    text-anchor="middle"
                  >
                    ×{shape.count}
                  </text>
                ) : null}
              </g>
            ),
          )}
          <line
            class="now"
            x1={xOf(now)}
            x2={xOf(now)}
            y1={marksHeight - 4}
            y2={height - axisHeight}
            hidden={now > span.to}
          />
        </svg>
      </div>
      <p class="legend" aria-hidden="true">
        {legend.map(([sign, text]) => (
          <span key={sign}>
            <i class={sign} /> {text}
          </span>
        ))}
        <span class="hint">← → selects an epoch</span>
      </p>
    </div>
  );
}

/** The symbols of the timeline, and their meanings. */
const legend = [
  ['starting', 'starting'],
  ['live', 'live'],
  ['draining', 'draining'],
  ['crash', 'crash'],
  ['push', 'secret pushed'],
  ['refused', 'refused'],
] as const;

interface BarProps {
  readonly drawn: Extract<Drawn, { kind: 'epoch' }>;
  readonly top: number;
  readonly isSelected: boolean;
  readonly label: string;
  readonly select: (epoch: number) => void;
}

function Bar({
  drawn: { epoch, x, width, segments, end },
  top,
  isSelected,
  label,
  select,
}: BarProps) {
  return (
    <g
      id={`bar-${epoch.epoch}`}
      role="option"
      aria-selected={isSelected}
      aria-label={label}
      class={`epoch ${epoch.answering === false ? 'silent' : ''}`}
      onClick={() => select(epoch.epoch)}
    >
      <title>{label}</title>
      {segments.map((segment) => (
        <rect
          key={segment.stage}
          class={segment.stage}
          x={segment.x}
          y={top}
          width={segment.width}
          height={barHeight}
        />
      ))}
      <rect class="outline" x={x} y={top} width={width} height={barHeight} />
      {end?.crashed === true ? (
        <path
          class="crash"
          d={`M${end.x - 4} ${top + 4}l8 ${barHeight - 8}m0 ${8 - barHeight}l-8 ${barHeight - 8}`}
        />
      ) : null}
      {width > 9 + 7 * String(epoch.epoch).length ? (
        <text x={x + 5} y={top + 13}>
          {epoch.epoch}
        </text>
      ) : null}
    </g>
  );
}

function Axis({
  span,
  width,
  height,
}: {
  readonly span: Span;
  readonly width: number;
  readonly height: number;
}) {
  const xOf = scale(span, width);
  const bottom = height - axisHeight;
  return (
    <g class="axis" aria-hidden="true">
      {ticks(span, width).map((tick) => (
        <g key={tick}>
          <line x1={xOf(tick)} x2={xOf(tick)} y1={marksHeight} y2={bottom} />
          <text
            x={xOf(tick)}
            y={height - 5}
            text-anchor={xOf(tick) < 24 ? 'start' : xOf(tick) > width - 28 ? 'end' : 'middle'}
          >
            {tick % 60_000 === 0 ? clock(tick).slice(0, 5) : clock(tick)}
          </text>
        </g>
      ))}
      <line x1={0} x2={width} y1={bottom} y2={bottom} />
    </g>
  );
}

interface MarksProps extends Pick<Props, 'marked' | 'refused' | 'span' | 'now'> {
  readonly width: number;
}

/** Shows other events: pushes of secrets, and a refused reading. */
function Marks({ marked, refused, span, now, width }: MarksProps) {
  const xOf = scale(span, width);
  const isIn = (time: string) => Date.parse(time) >= span.from && Date.parse(time) <= span.to;
  return (
    <g class="marks" aria-hidden="true">
      {marked
        .filter(({ at: pushedAt }) => isIn(pushedAt))
        .map(({ at: pushedAt, secret, state }) => (
          <path
            key={`${pushedAt}${secret}`}
            class={`push ${state}`}
            d={`M${xOf(Date.parse(pushedAt))} 2l4 4l-4 4l-4 -4z`}
          >
            <title>{`The secret ${secret} was pushed ${age(now - Date.parse(pushedAt))} ago: ${state}`}</title>
          </path>
        ))}
      {refused !== undefined && isIn(refused.at) ? (
        <path
          class="refused"
          d={`M${xOf(Date.parse(refused.at)) - 4.5} 6.5a4.5 4.5 0 1 1 9 0a4.5 4.5 0 1 1 -9 0l9 0`}
        >
          <title>{`Refused: ${refused.reason}`}</title>
        </path>
      ) : null}
    </g>
  );
}
