import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawAnswer } from './raw-server.ts';

/** The verdict about an answer: the status of a probe, and the result of a scrape. */
export interface Verdict {
  readonly probe: number;
  readonly scrape: string;
}

/** The verdict for each answer by its name. */
export type Verdicts = Readonly<Record<string, Verdict>>;

const here = (name: string) => join(import.meta.dirname, name);

/** The file of the verdicts of Go's client. */
export const verdictsFile = here('verdicts.json');

/** The page of all verdicts. */
export const reportFile = here('report.md');

/** All odd answers. */
export const answers = JSON.parse(
  readFileSync(here('answers.json'), 'utf8'),
) as readonly RawAnswer[];

/** Returns the verdicts of Go's client, which `npm run probes` collected. */
export function goVerdicts(): Verdicts {
  return JSON.parse(readFileSync(verdictsFile, 'utf8')) as Verdicts;
}
