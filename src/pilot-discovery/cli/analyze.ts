import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { readOutsideSync } from '../../shared/files/outside-file.ts';
import { printable } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { print } from '../../shared/program/print.ts';
import { analysisOf, inOrder } from '../analyze/analysis.ts';
import { fieldLines } from '../analyze/field-lines.ts';
import { type AnalysisFinding, findingKinds } from '../analyze/finding.ts';
import { readPaths } from '../analyze/read-paths.ts';
import { largestFile } from '../registry/files/folder-reader.ts';
import { findingsJson, findingsText } from '../analyze/show-findings.ts';

/** The exit code if there is an error; warnings alone are 0. */
const hasErrors = 1;

export interface AnalyzeOptions {
  readonly output: string;
  readonly domain: string;
}

/**
 * `pilot-discovery analyze PATH…`: prints what is wrong with the resources of files and folders,
 * a line for each. Rejects with a {@link Fatal}: without a message and with 1 if one of them is an
 * error, with 64 for a path that is not there.
 */
export async function analyze(
  paths: readonly string[],
  { output, domain }: AnalyzeOptions,
): Promise<void> {
  if (!['text', 'json'].includes(output))
    throw new Fatal(`--output: '${output}' is neither text nor json`, exitCodes.usage);
  const whole = [...new Set(paths.map((path) => resolve(path)))].map(kindOf);
  const { withLine } = fieldLines((path) => {
    const file = readOutsideSync(path, largestFile);
    return file.kind === 'read' ? file.bytes : undefined;
  });
  const findings = inOrder(analysisOf(readPaths(whole), domain).map(withLine)).map(
    (finding): AnalysisFinding => ({
      ...finding,
      origin: { ...finding.origin, path: fromHere(finding.origin.path) },
    }),
  );
  await print(output === 'json' ? findingsJson(findings) : printable(findingsText(findings)));
  if (findings.some(({ code }) => findingKinds[code].level === 'error'))
    throw new Fatal('', hasErrors);
}

/** A path as a person would write it: from the working directory, if it is below that. */
function fromHere(path: string): string {
  const short = relative('', path);
  return short === '' || short.startsWith('..') ? path : short;
}

function kindOf(path: string): { readonly path: string; readonly kind: 'file' | 'folder' } {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined)
    throw new Fatal(`${path} is not there: name files and folders`, exitCodes.usage);
  return { path, kind: stats.isDirectory() ? 'folder' : 'file' };
}
