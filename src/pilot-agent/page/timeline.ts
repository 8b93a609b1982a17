import type { EpochReport } from '../report/epoch-report.ts';

/** A span of time, in ms since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

type Stage = 'starting' | 'live' | 'draining';

/** A part of the life of an epoch, from left to right, in pixels. */
export interface Segment {
  readonly stage: Stage;
  readonly x: number;
  readonly width: number;
}

/** One drawing in a lane: an epoch, or several that would each be too narrow. */
export type Drawn =
  | {
      readonly kind: 'epoch';
      readonly epoch: EpochReport;
      readonly lane: number;
      readonly x: number;
      readonly width: number;
      readonly segments: readonly Segment[];
      /** Its end, if that is within the span. */
      readonly end: { readonly x: number; readonly crashed: boolean } | undefined;
    }
  | {
      readonly kind: 'cluster';
      readonly lane: number;
      readonly x: number;
      readonly width: number;
      readonly count: number;
      readonly crashed: number;
      readonly span: Span;
    };

/** In pixels. */
const narrowest = 5;

const time = (iso: string | undefined) => (iso === undefined ? undefined : Date.parse(iso));

export const crashed = ({ exit }: EpochReport) => exit !== undefined && !exit.expected;

function lifeOf(epoch: EpochReport, now: number): Span {
  const from = Date.parse(epoch.launchedAt);
  return { from, to: Math.max(from, time(epoch.endedAt) ?? now) };
}

/**
 * Returns the lane of each epoch, by its number: the first one that is free at its launch. So most
 * epochs are in one or two lanes. Pure.
 */
function lanesOf(epochs: readonly EpochReport[], now: number): ReadonlyMap<number, number> {
  const free: number[] = [];
  return new Map(
    epochs.map((epoch) => {
      const { from, to } = lifeOf(epoch, now);
      const freeLane = free.findIndex((end) => end <= from);
      const lane = freeLane === -1 ? free.length : freeLane;
      free[lane] = epoch.endedAt === undefined ? Infinity : to;
      return [epoch.epoch, lane];
    }),
  );
}

/**
 * Returns the drawings of the epochs in a span that is `width` pixels wide, at most one for each
 * few pixels. The selected epoch is always drawn alone. Pure.
 */
export function drawn(
  epochs: readonly EpochReport[],
  span: Span,
  now: number,
  width: number,
  selected?: number,
): readonly Drawn[] {
  const lanes = lanesOf(epochs, now);
  const xOf = scale(span, width);
  const open = new Map<number, Extract<Drawn, { kind: 'cluster' }>>();
  const shapes: Drawn[] = [];
  const close = (lane: number) => {
    const cluster = open.get(lane);
    if (cluster !== undefined) shapes.push(cluster);
    open.delete(lane);
  };
  for (const epoch of epochs) {
    const life = lifeOf(epoch, now);
    if (life.to < span.from || life.from > span.to) continue;
    const lane = lanes.get(epoch.epoch) ?? 0;
    const [x, right] = [xOf(life.from), xOf(life.to)];
    const before = open.get(lane);
    if (right - x >= narrowest || epoch.epoch === selected || epoch.endedAt === undefined) {
      close(lane);
      shapes.push(drawnEpoch(epoch, lane, life, span, now, xOf));
    } else if (before !== undefined && x - before.x < narrowest * 4) {
      const to = Math.max(before.x + before.width, right, x + 1);
      const joined = {
        count: before.count + 1,
        crashed: before.crashed + Number(crashed(epoch)),
        width: to - before.x,
      };
      open.set(lane, { ...before, ...joined, span: { from: before.span.from, to: life.to } });
    } else {
      close(lane);
      open.set(lane, {
        kind: 'cluster',
        lane,
        x,
        width: Math.max(narrowest, right - x),
        count: 1,
        crashed: Number(crashed(epoch)),
        span: life,
      });
    }
  }
  [...open.keys()].forEach(close);
  return shapes;
}

/** Returns a function from a time to a place, which stays within the span. */
export function scale({ from, to }: Span, width: number): (moment: number) => number {
  return (moment) =>
    (Math.min(Math.max(moment, from), to) - from) * (width / Math.max(1, to - from));
}

function drawnEpoch(
  epoch: EpochReport,
  lane: number,
  life: Span,
  span: Span,
  now: number,
  xOf: (moment: number) => number,
): Drawn {
  const x = xOf(life.from);
  const ended = time(epoch.endedAt);
  const segments = stagesOf(epoch, now).flatMap(({ stage, from, to }): readonly Segment[] =>
    to < span.from || from > span.to
      ? []
      : [{ stage, x: xOf(from), width: Math.max(1, xOf(to) - xOf(from)) }],
  );
  const end =
    ended === undefined || ended < span.from || ended > span.to
      ? undefined
      : { x: xOf(ended), crashed: crashed(epoch) };
  return { kind: 'epoch', epoch, lane, x, width: Math.max(1, xOf(life.to) - x), segments, end };
}

/** Returns the stages that an epoch has reached, in their order. Pure. */
function stagesOf(epoch: EpochReport, now: number): readonly (Span & { readonly stage: Stage })[] {
  const { from, to } = lifeOf(epoch, now);
  const [live, drain] = [time(epoch.liveAt), time(epoch.toldToDrainAt)];
  const begins: readonly (readonly [Stage, number | undefined])[] = [
    ['starting', from],
    ['live', live],
    ['draining', drain],
  ];
  const reached = begins.flatMap(([stage, begin]) =>
    begin === undefined ? [] : [{ stage, begin }],
  );
  return reached.map(({ stage, begin }, index) => ({
    stage,
    from: begin,
    to: reached[index + 1]?.begin ?? to,
  }));
}

const steps = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400,
].map((step) => step * 1_000);

/**
 * Returns the times at the axis: whole minutes or similar steps, at least `apart` pixels from each
 * other. Pure.
 */
export function ticks(span: Span, width: number, apart = 90): readonly number[] {
  const least = ((span.to - span.from) * apart) / Math.max(1, width);
  const step =
    steps.find((candidate) => candidate >= least) ?? Math.ceil(least / 86_400_000) * 86_400_000;
  const zone = new Date(span.to).getTimezoneOffset() * 60_000;
  const first = Math.ceil((span.from - zone) / step) * step + zone;
  return Array.from(
    { length: Math.max(0, Math.floor((span.to - first) / step) + 1) },
    (_, index) => first + index * step,
  );
}
