import { relative } from 'node:path';
import { readOutsideSync } from '../../shared/files/outside-file.ts';
import { inOrder } from '../analyze/analysis.ts';
import { fieldLines } from '../analyze/field-lines.ts';
import type { AnalysisFinding } from '../analyze/finding.ts';
import { largestFile } from '../registry/files/folder-reader.ts';

/** Returns findings in order, with the lines of their fields, and paths as a person writes them. */
export function placedFindings(findings: readonly AnalysisFinding[]): readonly AnalysisFinding[] {
  const { withLine } = fieldLines((path) => {
    const file = readOutsideSync(path, largestFile);
    return file.kind === 'read' ? file.bytes : undefined;
  });
  return inOrder(findings.map(withLine)).map((finding) => ({
    ...finding,
    origin: { ...finding.origin, path: fromHere(finding.origin.path) },
  }));
}

/**
 * Returns a path as a person would write it: relative to the working directory if it is below that.
 */
function fromHere(path: string): string {
  const short = relative('', path);
  return short === '' || short.startsWith('..') ? path : short;
}
