import { TestScheduler } from 'rxjs/testing';

/** A sign of a diagram, and its time in ms from the start. */
export interface DrawnSign {
  readonly at: number;
  readonly sign: string;
}

/**
 * Returns the signs of a diagram. An error at its end is #; a completion is left out. For use in
 * `TestScheduler.run`: outside of it a sign takes 10 ms.
 */
export function signsOf(diagram: string): readonly DrawnSign[] {
  const messages = TestScheduler.parseMarbles(diagram, undefined, undefined, false, true);
  return messages.flatMap(({ frame, notification }) => {
    if (notification.kind === 'C') return [];
    return [{ at: frame, sign: notification.kind === 'E' ? '#' : String(notification.value) }];
  });
}

/** Returns the diagram of some signs, in their order. Signs of one time are a group. Pure. */
export function diagramOf(signs: readonly DrawnSign[]): string {
  let next = 0;
  const parts = [...new Set(signs.map(({ at: time }) => time))].map((time) => {
    const group = signs
      .flatMap(({ at: signTime, sign }) => (signTime === time ? [sign] : []))
      .join('');
    const drawn = group.length === 1 ? group : `(${group})`;
    const gap = Math.max(0, time - next);
    next = time + drawn.length;
    return gap === 0 ? drawn : `${inUnits(gap)} ${drawn}`;
  });
  return parts.join(' ');
}

function inUnits(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`;
}
