import { scale, type Span } from './timeline.ts';
import type { Point, Series } from './traffic-rates.ts';

export interface Area {
  readonly span: Span;
  readonly width: number;
  readonly height: number;
  readonly highest: number;
}

export interface Path extends Pick<Series, 'name' | 'epoch'> {
  readonly path: string;
}

/** In ms. A value this close to the time that a user points at still counts. */
const near = 1_500;

/** Stacks each series on those before it. Their points must have the same times. Pure. */
export function stacked(series: readonly Series[]): readonly Series[] {
  const sums = new Map<number, number>();
  return series.map((layer) => ({
    ...layer,
    points: layer.points.map(({ at: time, value }) => {
      if (value === undefined) return { at: time, value };
      const sum = (sums.get(time) ?? 0) + value;
      sums.set(time, sum);
      return { at: time, value: sum };
    }),
  }));
}

/**
 * Draws series as areas down to the base; the highest one comes first, because the others lie in
 * front of it. Pure.
 */
export function areas(series: readonly Series[], area: Area): readonly Path[] {
  const { height } = area;
  return series
    .map(({ name, epoch, points }) => ({
      name,
      epoch,
      path: runs(points, area)
        .map(
          (run) =>
            `M${run[0]?.[0] ?? 0} ${height}${run.map(([x, y]) => `L${x} ${y}`).join('')}L${run.at(-1)?.[0] ?? 0} ${height}Z`,
        )
        .join(''),
    }))
    .reverse();
}

/** Draws series as lines, which have gaps at times without a value. Pure. */
export function lines(series: readonly Series[], area: Area): readonly Path[] {
  return series.map(({ name, epoch, points }) => ({
    name,
    epoch,
    path: runs(points, area)
      .map((run) => `M${run.map(([x, y]) => `${x} ${y}`).join('L')}`)
      .join(''),
  }));
}

/** Returns the places of points that follow each other without a gap, at most one per pixel. */
function runs(
  points: readonly Point[],
  { span, width, height, highest }: Area,
): readonly (readonly (readonly [number, number])[])[] {
  const xOf = scale(span, width);
  const polylines: (readonly [number, number])[][] = [[]];
  for (const { at: time, value } of points) {
    const run = polylines.at(-1) ?? [];
    if (value === undefined) {
      if (run.length > 0) polylines.push([]);
      continue;
    }
    if (time > span.to) break;
    const place = [round(xOf(time)), round(height - 1 - (value / highest) * (height - 3))] as const;
    const last = run.at(-1);
    // Only the highest of several points in one pixel is visible.
    if (last === undefined || place[0] - last[0] >= 1) run.push(place);
    else if (place[1] < last[1]) run[run.length - 1] = [last[0], place[1]];
  }
  return polylines.filter((run) => run.length > 0);
}

const round = (value: number) => Math.round(value * 10) / 10;

/**
 * Returns the value of a series at a time, or shortly before or after; undefined if it has none
 * there. Pure.
 */
export function valueAt({ points }: Series, time: number): number | undefined {
  return points.findLast((point) => point.at <= time + near && point.at >= time - near)?.value;
}
