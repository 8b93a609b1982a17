/** Rows above and below what is seen, so that they are there when it is scrolled. */
const spare = 12;

export interface VisibleRows {
  readonly first: number;
  /** Not included. */
  readonly last: number;
}

/**
 * Which rows of a list have to be there, by how far it is scrolled and how high it is, in pixels.
 * Pure.
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

/** How far a list has to be scrolled, and no farther, so that a row is seen. Pure. */
export function scrollTo(index: number, top: number, height: number, rowHeight: number): number {
  return Math.min(Math.max(top, (index + 1) * rowHeight - height), index * rowHeight);
}
