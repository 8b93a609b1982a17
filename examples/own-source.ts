import { readFile } from 'node:fs/promises';
import { type ContributingSource, source } from 'pilot-agent';

/** Switches in a JSON file, read every 10 s. Envoy is restarted when one of them changes. */
export function switches(path: string, every = 10_000): ContributingSource {
  return source('switches', async () => JSON.parse(await readFile(path, 'utf8')) as object, {
    every,
  });
}
