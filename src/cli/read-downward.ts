import { readFileSync } from 'node:fs';
import { parseDownwardApi } from '../config/parse-downward-api.ts';

/** Where Kubernetes' downward API writes the labels and annotations of the pod, below the working directory as with the Go agent. */
export const labelsFile = './etc/istio/pod/labels';
export const annotationsFile = './etc/istio/pod/annotations';

/** Labels or annotations of the pod. A file that is not there has none; one that cannot be used has none either, and a warning says why. */
export function readDownward(path: string): { readonly entries: Readonly<Record<string, string>>; readonly warnings: readonly string[] } {
  const ignored = (reason: string) => ({ entries: {}, warnings: [`${path} is ignored: ${reason}`] });
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? { entries: {}, warnings: [] } : ignored(`it cannot be read: ${message}`);
  }
  const parsed = parseDownwardApi(text);
  return parsed.ok ? { entries: parsed.entries, warnings: [] } : ignored(parsed.reason);
}
