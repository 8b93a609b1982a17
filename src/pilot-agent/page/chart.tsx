import { areas, lines, stacked, valueAt } from './chart-paths.ts';
import { clock } from './time-text.ts';
import { scale, type Span } from './timeline.ts';
import type { Series } from './traffic-rates.ts';
import { useSize } from './use-size.ts';

export interface ChartProps {
  readonly title: string;
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly span: Span;
  readonly isStacked?: boolean;
  /** The newest value belongs to the past: it is not shown as the current one. */
  readonly isOver?: boolean;
  /** The time at which the user points in one of the charts. */
  readonly pointed: number | undefined;
  readonly point: (time: number | undefined) => void;
}

const height = 52;

/** Shows one small chart: the newest value, the highest one, and their history. */
export function Chart({
  title,
  series,
  format,
  span,
  isStacked = false,
  isOver = false,
  pointed,
  point,
}: ChartProps) {
  const [place, { width }] = useSize<HTMLDivElement>({ width: 200, height: 0 });
  const shown = isStacked ? stacked(series) : series;
  const values = shown.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const highest = Math.max(0, ...values);
  const area = { span, width, height, highest: highest === 0 ? 1 : highest * 1.05 };
  const time = pointed ?? Math.max(...series.map(({ points }) => points.at(-1)?.at ?? 0));
  const now = series
    .map((line) => ({ ...line, value: valueAt(line, time) }))
    .filter((line) => line.value !== undefined);
  const sum = isStacked
    ? now.reduce((total, { value = 0 }) => total + value, 0)
    : (now[0]?.value ?? 0);
  const sumText = values.length === 0 || (isOver && pointed === undefined) ? '–' : format(sum);
  const draw = isStacked ? areas : lines;
  const pointTo = ({ offsetX }: MouseEvent) =>
    point(span.from + (offsetX / width) * (span.to - span.from));
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span> <b>{sumText}</b>
        <span class="dim">
          {values.length === 0
            ? ''
            : pointed === undefined
              ? `max ${format(highest)}`
              : clock(pointed)}
        </span>
      </figcaption>
      <div
        ref={place}
        role="img"
        aria-label={`${title}: now ${sumText}, highest ${format(highest)}`}
        onMouseMove={pointTo}
        onMouseLeave={() => point(undefined)}
      >
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
          <line class="base" x1={0} x2={width} y1={height - 0.5} y2={height - 0.5} />
          {draw(shown, area).map(({ epoch, name, path }) => (
            <path
              key={name}
              class={`${isStacked ? 'area' : 'stroke'} ${colourOf(epoch)}`}
              d={path}
            />
          ))}
          {pointed === undefined ? null : (
            <line
              class="pointer"
              x1={scale(span, width)(pointed)}
              x2={scale(span, width)(pointed)}
              y1={0}
              y2={height}
            />
          )}
        </svg>
      </div>
      <p class="keys">
        {now
          .filter(({ value }) => value !== 0 && sumText !== '–')
          .slice(-3)
          .map(({ name, epoch, value = 0 }) => (
            <span key={name}>
              <i class={colourOf(epoch)} />
              {name} {format(value)}
            </span>
          ))}
      </p>
    </figure>
  );
}

/** Returns a colour; neighbours have different ones. */
const colourOf = (epoch: number | undefined) =>
  epoch === undefined ? 'hue-agent' : `hue-${epoch % 6}`;
