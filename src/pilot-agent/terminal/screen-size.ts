/** In columns and lines. */
export interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

/** The size of a terminal that does not report it. */
const usual: ScreenSize = { width: 80, height: 24 };

/**
 * Returns the current size of a terminal. A terminal that reports nothing or 0, as a serial line
 * does, counts as 80×24. Pure.
 */
export function sizeOf({
  columns = 0,
  rows = 0,
}: {
  readonly columns?: number;
  readonly rows?: number;
}): ScreenSize {
  return { width: columns > 0 ? columns : usual.width, height: rows > 0 ? rows : usual.height };
}
