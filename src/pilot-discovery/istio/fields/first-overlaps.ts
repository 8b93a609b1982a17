/**
 * Returns for each text the index of the first earlier text that begins with it, or with which it
 * begins; undefined for none. Sorts them, since a resource may have as many as fit into 1 MB.
 */
export function firstOverlaps(texts: readonly string[]): readonly (number | undefined)[] {
  const textAt = (index: number): string => texts[index] ?? '';
  const order = [...texts.keys()].sort((a, b) => {
    const [first, second] = [textAt(a), textAt(b)];
    return first === second ? a - b : first < second ? -1 : 1;
  });
  // Texts with which the current one begins: the shortest first.
  const around: { readonly index: number; readonly firstAround: number; firstInside: number }[] =
    [];
  const firsts = new Map<number, number>();
  const leave = (): void => {
    const left = around.pop();
    if (left === undefined) return;
    const { index, firstAround, firstInside } = left;
    firsts.set(index, Math.min(firstAround, firstInside));
    const next = around.at(-1);
    if (next !== undefined) next.firstInside = Math.min(next.firstInside, firstInside);
  };
  for (const index of order) {
    const text = textAt(index);
    while (around.length > 0 && !text.startsWith(textAt(around.at(-1)?.index ?? 0))) leave();
    const firstAround = Math.min(index, around.at(-1)?.firstAround ?? index);
    around.push({ index, firstAround, firstInside: index });
  }
  while (around.length > 0) leave();
  return texts.map((_, index) => {
    const first = firsts.get(index) ?? index;
    return first < index ? first : undefined;
  });
}
