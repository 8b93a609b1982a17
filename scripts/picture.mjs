// Draws which folder of src imports which, into ARCHITECTURE.md. With --check it writes nothing, and fails if the picture there is another.
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

const path = 'ARCHITECTURE.md';
const text = readFileSync(path, 'utf8');
const drawn = text.replace(/(?<=<!-- picture -->\n\n)[^]*(?=\n\n<!-- \/picture -->)/, () => picture);
if (!process.argv.includes('--check')) writeFileSync(path, drawn);
else if (drawn !== text) {
  process.stderr.write(`The picture in ${path} is not that of src. Run npm run picture.\n`);
  process.exitCode = 1;
}
