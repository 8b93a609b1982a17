import { type XdsType, xdsTypes } from '../push/view.ts';
import type { BoundedDiff, ShownGroup, ShownProxy, ShownResource } from './bounded-diff.ts';
import type { PathChange } from './changed-paths.ts';

/** The largest number of names of proxies in the head of a group; the others are counted. */
const namesAtMost = 3;

const presences: Readonly<Record<ShownProxy['presence'], string>> = {
  both: '',
  named: '',
  connected: '',
  old: ' (only in OLD)',
  new: ' (only in NEW)',
};

/** Returns a diff as a table for people: a block for each group of proxies. Pure. */
export function diffText(diff: BoundedDiff): string {
  const { groups, moreGroups, changed, compared } = diff;
  const all = counted(compared, 'proxy', 'proxies');
  if (changed === 0) return `Nothing changes for ${all}.\n`;
  const more =
    moreGroups === 0 ? [] : [`… and ${counted(moreGroups, 'more group', 'more groups')}`];
  return [
    ...groups.map(groupText),
    [...more, `Something changes for ${changed} of ${all}.`, ''].join('\n'),
  ].join('\n');
}

function groupText(group: ShownGroup): string {
  const { resources, moreResources, counts } = group;
  const width = Math.max(...resources.map(({ type }) => type.length));
  const lines = resources.flatMap((resource) => [
    `  ${resource.type.padEnd(width)}  ${resource.change.padEnd(7)}  ${resource.name}`,
    ...pathLines(resource),
  ]);
  const more =
    moreResources === 0
      ? []
      : [`  … and ${counted(moreResources, 'more resource', 'more resources')}`];
  return `${[`${proxiesText(group)}: ${countsText(counts)}`, ...lines, ...more].join('\n')}\n`;
}

function proxiesText({ proxies, moreProxies }: ShownGroup): string {
  const names = proxies
    .slice(0, namesAtMost)
    .map(({ name, presence }) => `${name}${presences[presence]}`)
    .join(', ');
  const rest = proxies.length + moreProxies - Math.min(proxies.length, namesAtMost);
  return rest === 0 ? names : `${names} and ${counted(rest, 'more proxy', 'more proxies')}`;
}

const countsText = (counts: Readonly<Record<XdsType, number>>): string =>
  xdsTypes
    .filter((type) => counts[type] > 0)
    .map((type) => counted(counts[type], type, `${type}s`))
    .join(', ');

function pathLines({ paths, morePaths }: ShownResource): readonly string[] {
  const more = morePaths === 0 ? [] : [`… and ${counted(morePaths, 'more path', 'more paths')}`];
  return [...paths.map(pathText), ...more].map((line) => `      ${line}`);
}

function pathText(change: PathChange): string {
  switch (change.kind) {
    case 'added':
      return `+ ${change.path}: ${change.after}`;
    case 'removed':
      return `- ${change.path}: ${change.before}`;
    case 'changed':
      return `~ ${change.path}: ${change.before} → ${change.after}`;
    case 'reordered':
      return `~ ${change.path}: another order`;
  }
}

const counted = (count: number, singular: string, plural: string): string =>
  `${count} ${count === 1 ? singular : plural}`;

/** Returns the same as JSON. Pure. */
export const diffJson = (diff: BoundedDiff): string => `${JSON.stringify(diff, null, 2)}\n`;
