import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { list, page, paragraph, section } from './markdown.ts';

export const decisionsFolder = 'docs/decisions';
const index = 'README.md';
export const decisionsIndex = join(decisionsFolder, index);

/** A page of a decision. */
export interface Decision {
  readonly file: string;
  readonly title: string;
  readonly area: string;
  /** The paths of the files that link to it, relative to the repository. */
  readonly explained: readonly string[];
  readonly sections: readonly string[];
}

/** All decisions, in the order of their numbers. Throws for a page that has another form. */
export function decisions(): readonly Decision[] {
  return readdirSync(decisionsFolder)
    .filter((file) => file !== index)
    .sort()
    .map((file) => decisionOf(file, readFileSync(join(decisionsFolder, file), 'utf8')));
}

/** Throws if the page does not begin with its number, title, area and files. */
export function decisionOf(file: string, text: string): Decision {
  const [, number, title, area, files] =
    /^# (\d+)\. (.+)\n\nArea: ([^.]+)\. It explains\s([^]*?)\.\n\n## /.exec(text) ?? [];
  if (title === undefined || area === undefined || files === undefined)
    throw new Error(`${file} needs '# N. TITLE', then 'Area: AREA. It explains FILES.'`);
  if (file.split('-')[0] !== number?.padStart(3, '0'))
    throw new Error(`${file} has another number in its title: ${number ?? 'none'}`);
  return {
    file,
    title,
    area,
    explained: [...files.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
    sections: [...text.matchAll(/^## (.+)$/gm)].map(([, name = '']) => name),
  };
}

/** The list of all decisions, by area. */
export function decisionsPage(all: readonly Decision[] = decisions()): string {
  const areas = [...new Set(all.map(({ area }) => area))];
  return page(
    'Decisions',
    paragraph(
      'Each page explains one decision that a reader of the code may question: its context, what was decided, what was measured, and what follows. The Go agent is the one of Istio 1.5 and 1.6. The words are those of the [glossary](../../ARCHITECTURE.md#glossary).',
    ),
    paragraph(
      'Measurements were made with Envoy 1.36.2 and Node 20.20 on two cores, unless a page names another version. The page [What Envoy does](../explain/what-envoy-does.md) has the facts about Envoy on which they rest. A file of the code names its decision in a comment at its top.',
    ),
    ...areas.map((area) =>
      section(
        area,
        list(
          all
            .filter((decision) => decision.area === area)
            .map(({ file, title }) => `[${title}](${file})`),
        ),
      ),
    ),
  );
}
