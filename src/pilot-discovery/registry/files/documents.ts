import type { FileDocument } from './file-document.ts';
import { listItems } from './list-items.ts';

const newLine = 0x0a;
const separator = Buffer.from('---');
const endsSeparator = new Set([0x20, 0x09, 0x0d, newLine]);

/**
 * Returns the documents of a file. The items of a `List` are documents of their own, so that a
 * `List` may be larger than a document, and only the items that changed are read again.
 */
export function documentsOf(bytes: Buffer): readonly FileDocument[] {
  return dividedBySeparators(bytes).flatMap((document) => listItems(document) ?? [document]);
}

/**
 * Returns the documents of a YAML file, each with the `---` in front; JSON is one document. A `---`
 * at the beginning of a line is always a separator (YAML 1.2, 9.1.2). A file with directives is not
 * divided.
 */
function dividedBySeparators(bytes: Buffer): readonly FileDocument[] {
  const documents: FileDocument[] = [];
  let [start, lines, before] = [0, 0, 0];
  for (let offset = 0; offset < bytes.length; lines += 1) {
    if (bytes[offset] === 0x25) return [{ bytes, before: 0 }];
    if (offset > start && isSeparator(bytes, offset)) {
      documents.push({ bytes: bytes.subarray(start, offset), before });
      [start, before] = [offset, lines];
    }
    const end = bytes.indexOf(newLine, offset);
    offset = end === -1 ? bytes.length : end + 1;
  }
  if (start < bytes.length) documents.push({ bytes: bytes.subarray(start), before });
  return documents;
}

function isSeparator(bytes: Buffer, offset: number): boolean {
  if (
    bytes[offset] !== separator[0] ||
    !bytes.subarray(offset, offset + separator.length).equals(separator)
  )
    return false;
  const next = bytes[offset + separator.length];
  return next === undefined || endsSeparator.has(next);
}
