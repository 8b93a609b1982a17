import type { Paint } from '../../shared/log/paint.ts';
import { cutInside, fitted, fittedRight, widthOf } from './text-width.ts';

type Style = Parameters<Paint>[0];

/** The content of a cell: a text, or a text in a style. */
export type Cell = string | { readonly text: string; readonly style: Style };

export interface Column {
  readonly title: string;
  /** Numbers are aligned to the right. */
  readonly isRight?: true;
  /** The ends of its texts matter most, as in paths. */
  readonly hasEnds?: true;
}

const gap = '  ';
/** The smallest width of a column that is cut. */
const narrowest = 6;

function textOf(cell: Cell | undefined): string {
  return typeof cell === 'object' ? cell.text : (cell ?? '');
}

/**
 * Writes a table in `width` columns, its titles first. Leaves out columns without any text; if the
 * rest is too wide, cuts the widest columns. Pure.
 *
 * @param width `Infinity`: nothing is cut
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  width: number,
  paint: Paint,
): readonly string[] {
  const natural = columns.map(({ title }, index) => {
    const widest = Math.max(0, ...rows.map((row) => widthOf(textOf(row[index]))));
    return widest === 0 ? 0 : Math.max(widest, widthOf(title));
  });
  const widths = narrowed(
    natural,
    width - gap.length * (natural.filter((columnWidth) => columnWidth > 0).length - 1),
  );
  const line = (cells: readonly Cell[]) =>
    columns
      .flatMap(({ isRight, hasEnds }, index) => {
        const [cell, columnWidth = 0] = [cells[index], widths[index]];
        if (columnWidth === 0) return [];
        const visible = hasEnds ? cutInside(textOf(cell), columnWidth) : textOf(cell);
        const text = isRight ? fittedRight(visible, columnWidth) : fitted(visible, columnWidth);
        return [
          typeof cell === 'object'
            ? text.replace(/\S.*\S|\S/u, (shown) => paint(cell.style, shown))
            : text,
        ];
      })
      .join(gap)
      .trimEnd();
  return [line(columns.map(({ title }) => ({ text: title, style: 'dim' }))), ...rows.map(line)];
}

/** Limits all columns to the largest width with which they fit. */
function narrowed(widths: readonly number[], room: number): readonly number[] {
  const sum = (limit: number) => widths.reduce((total, width) => total + Math.min(width, limit), 0);
  if (sum(Infinity) <= room) return widths;
  const limits = Array.from({ length: Math.max(1, room - narrowest) }, (_, index) => room - index);
  const limit = Math.max(
    narrowest,
    limits.find((candidate) => sum(candidate) <= room) ?? narrowest,
  );
  return widths.map((width) => Math.min(width, limit));
}
