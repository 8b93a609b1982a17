import { isMap, isSeq, type ParsedNode } from 'yaml';
import { stepsOf } from '../../../shared/text/field-steps.ts';

/** Returns the offset of a field, or of the nearest field around it that exists. Pure. */
export function offsetOf(node: ParsedNode, field: string): number | undefined {
  let offset: number | undefined;
  let inner: unknown = node;
  for (const step of stepsOf(field)) {
    const index = /^\[(\d+)\]$/.exec(step)?.[1];
    if (index !== undefined && isSeq(inner)) inner = inner.items[Number(index)];
    else if (isMap(inner)) {
      const pair = inner.items.find(({ key }) => String(key) === step);
      const key = pair?.key as ParsedNode | undefined;
      if (key?.range !== undefined) offset = key.range[0];
      inner = pair?.value;
      continue;
    } else return offset;
    const { range } = (inner ?? {}) as Partial<ParsedNode>;
    if (range !== undefined) offset = range[0];
  }
  return offset;
}
