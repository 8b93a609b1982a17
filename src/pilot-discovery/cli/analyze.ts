import { printable } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { print } from '../../shared/program/print.ts';
import { analysisOf } from '../analyze/analysis.ts';
import { findingKinds } from '../analyze/finding.ts';
import { findingsJson, findingsText } from '../analyze/show-findings.ts';
import { readPaths } from '../registry/files/read-paths.ts';
import { givenPaths } from './given-paths.ts';
import { placedFindings } from './placed-findings.ts';

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
  const findings = placedFindings(analysisOf(readPaths(givenPaths(paths), 'default'), domain));
  await print(output === 'json' ? findingsJson(findings) : printable(findingsText(findings)));
  if (findings.some(({ code }) => findingKinds[code].level === 'error'))
    throw new Fatal('', hasErrors);
}
