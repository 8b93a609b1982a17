import type { Origin } from './model.ts';

/** Returns a place for a message: `path:line`, or the path alone if there is no line. Pure. */
export const placeOf = ({ path, line }: Pick<Origin, 'path' | 'line'>): string =>
  line === 0 ? path : `${path}:${line}`;
