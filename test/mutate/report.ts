import type { Mutant } from './mutant.ts';
import type { Verdict } from './workshop.ts';

export interface Tried {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
}

/**
 * A page of Markdown: the share of killed mutants by folder of the ids and in all, and which
 * survived, with why where that is known.
 */
export function report(tried: readonly Tried[]): string {
  const folders = [...new Set(tried.map(folderOf))].sort();
  const rows = [
    ...folders.map((folder) =>
      row(
        `\`${folder}\``,
        tried.filter((one) => folderOf(one) === folder),
      ),
    ),
    row('in all', tried),
  ];
  const named = (verdict: Verdict) =>
    tried.filter((one) => one.verdict === verdict).map(({ mutant }) => line(mutant, verdict));
  return `${[
    '# Mutants',
    '',
    'Made by `npm run mutate`. One that times out counts as killed.',
    '',
    '| Folder | Mutants | Killed | Timed out | Survived | Share killed |',
    '| --- | --: | --: | --: | --: | --: |',
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

function line({ id, explained }: Mutant, verdict: Verdict): string {
  return `- \`${id}\`${verdict === 'survived' && explained !== undefined ? `: ${explained}` : ''}`;
}

function folderOf({ mutant }: Tried): string {
  return mutant.id.replace(/\/.*/, '');
}

function row(name: string, tried: readonly Tried[]): string {
  const count = (verdict: Verdict) => tried.filter((one) => one.verdict === verdict).length;
  const share = Math.floor((1 - count('survived') / tried.length) * 100);
  const cells = [
    name,
    tried.length,
    count('killed') + count('timed out'),
    count('timed out'),
    count('survived'),
    `${share} %`,
  ];
  return `| ${cells.join(' | ')} |`;
}
