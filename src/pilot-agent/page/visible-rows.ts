/** The rows above and below the visible ones, which are rendered ahead of scrolling. */
const spare = 12;

export interface VisibleRows {
  readonly first: number;
  /** Not included. */
  readonly last: number;
}

/**
 * Returns the rows of a list to render, from its scroll position and its height in pixels. Pure.
 */
export function visibleRows(
  count: number,
  top: number,
  height: number,
  rowHeight: number,
): VisibleRows {
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - spare));
  return {
    first,
    last: Math.max(first, Math.min(count, Math.ceil((top + height) / rowHeight) + spare)),
  };
}

/** Returns the scroll position at which a row is visible, with the least scrolling. Pure. */
export function scrollTo(index: number, top: number, height: number, rowHeight: number): number {
  return Math.min(Math.max(top, (index + 1) * rowHeight - height), index * rowHeight);
}
