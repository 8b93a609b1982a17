import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RawAnswer } from './raw-server.ts';

/** What becomes of an answer: the status of a probe, and what a scrape has of it. */
export interface Verdict {
  readonly probe: number;
  readonly scrape: string;
}

/** The verdict for each answer by its name. */
export type Verdicts = Readonly<Record<string, Verdict>>;

const here = (name: string) => join(import.meta.dirname, name);

/** Where the verdicts of Go's client are kept. */
export const verdictsFile = here('verdicts.json');

/** The page of all verdicts. */
export const reportFile = here('report.md');

/** All odd answers. */
export const answers = JSON.parse(
  readFileSync(here('answers.json'), 'utf8'),
) as readonly RawAnswer[];

/** The verdicts of Go's client, which `npm run probes` asked for. */
export function goVerdicts(): Verdicts {
  return JSON.parse(readFileSync(verdictsFile, 'utf8')) as Verdicts;
}
