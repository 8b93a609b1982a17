// Draws which folder of src imports which, and writes what each may import. With --check it writes
// nothing, and fails if what is there differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import configuration from '../.dependency-cruiser.mjs';

const { output } = await cruise(['src'], { ...configuration.options, includeOnly: '^src/', collapse: '^src/[^/]+' });
const folderOf = (path) => path.replace(/^src\//, '');
const imports = new Map(
  output.modules
    .map(({ source, dependencies }) => [folderOf(source), dependencies.map(({ resolved }) => folderOf(resolved)).sort()])
    .filter(([folder]) => !folder.endsWith('.ts'))
    .sort(([one], [other]) => (one < other ? -1 : 1)),
);

/** All that is reached from a folder, without a step over those that have been passed. */
function reached(folder, passed) {
  return (imports.get(folder) ?? [])
    .filter((next) => !passed.includes(next))
    .flatMap((next) => [next, ...reached(next, [...passed, next])]);
}

const arrows = [...imports].flatMap(([folder, targets]) =>
  targets
    .filter((target) => !targets.some((other) => other !== target && reached(other, [folder]).includes(target)))
    .map((target) => `  ${folder} --> ${target}`),
);
const picture = ['```mermaid', 'flowchart TD', ...arrows, '```'].join('\n');

const architecture = JSON.parse(readFileSync('architecture.json', 'utf8'));
const isFolder = (target) => target in architecture || ['everything else', 'package.json'].includes(target);
const rows = Object.entries(architecture).map(([folder, targets]) => [
  `\`${folder}\``,
  targets.filter((target) => isFolder(target) && target !== folder).join(', '),
  targets.filter((target) => !isFolder(target)).join(', '),
]);
const lines = [['Folder', 'Folders that it may import', 'Packages'], ['---', '---', '---'], ...rows];
// Prettier would pad each row to the widest one.
const table = ['<!-- prettier-ignore -->', ...lines.map((cells) => `| ${cells.join(' | ')} |`)].join('\n');

const path = 'docs/architecture/imports.md';
const text = readFileSync(path, 'utf8');
const drawn = Object.entries({ picture, table }).reduce(
  (before, [name, content]) => before.replace(new RegExp(`(?<=<!-- ${name} -->\n)[^]*(?=\n<!-- /${name} -->)`), () => `\n${content}\n`),
  text,
);
if (!process.argv.includes('--check')) writeFileSync(path, drawn);
else if (drawn !== text) {
  process.stderr.write(`The picture or the table in ${path} is not that of src. Run npm run picture.\n`);
  process.exitCode = 1;
}
