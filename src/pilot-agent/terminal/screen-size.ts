/** In columns and lines. */
export interface ScreenSize {
  readonly width: number;
  readonly height: number;
}

/** Where a terminal does not say how large it is. */
const usual: ScreenSize = { width: 80, height: 24 };

/**
 * How large a terminal is now. One that says nothing, or 0, as a serial line does, counts as one of
 * 80×24. Pure.
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
