import { dirname } from 'node:path';
import type { Mutant } from './mutant.ts';
import type { Verdict } from './workshop.ts';

export interface Tried {
  readonly mutant: Mutant;
  readonly verdict: Verdict | 'not tried';
}

/**
 * Returns a page of Markdown: the share of killed mutants by folder and in all, and which survived
 * or timed out. Survivors have the reason if it is known. The folder is that of the id, or of the
 * file for drawn mutants.
 *
 * @param heading the lines above the table
 */
export function report(heading: readonly string[], tried: readonly Tried[]): string {
  const folders = [...new Set(tried.map(folderOf))].sort();
  const rows = [
    ...folders.map((folder) =>
      row(
        `\`${folder}\``,
        tried.filter((trial) => folderOf(trial) === folder),
      ),
    ),
    row('in all', tried),
  ];
  const named = (verdict: Tried['verdict']) =>
    tried.filter((trial) => trial.verdict === verdict).map(({ mutant }) => line(mutant, verdict));
  return `${[
    ...heading,
    'One that times out counts as killed.',
    '',
    '| Folder | Mutants | Killed | Timed out | Survived | Not tried | Share killed |',
    '| --- | --: | --: | --: | --: | --: | --: |',
    ...rows,
    '',
    '## Survivors',
    '',
    ...named('survived'),
    '',
    '## Timed out',
    '',
    ...named('timed out'),
  ]
    .join('\n')
    .trim()}\n`;
}

function line(mutant: Mutant, verdict: Tried['verdict']): string {
  const explained = 'explained' in mutant ? mutant.explained : undefined;
  const id = mutant.id.includes('`') ? `\`\` ${mutant.id} \`\`` : `\`${mutant.id}\``;
  return `- ${id}${verdict === 'survived' && explained !== undefined ? `: ${explained}` : ''}`;
}

function folderOf({ mutant }: Tried): string {
  return 'start' in mutant ? dirname(mutant.file) : mutant.id.replace(/\/.*/, '');
}

function row(name: string, tried: readonly Tried[]): string {
  const count = (verdict: Tried['verdict']) =>
    tried.filter((trial) => trial.verdict === verdict).length;
  const tries = tried.length - count('not tried');
  const share = tries === 0 ? '–' : `${Math.floor((1 - count('survived') / tries) * 100)} %`;
  const cells = [
    name,
    tried.length,
    count('killed') + count('timed out'),
    count('timed out'),
    count('survived'),
    count('not tried'),
    share,
  ];
  return `| ${cells.join(' | ')} |`;
}
