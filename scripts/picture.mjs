// Draws the imports between the folders of src, and writes a table of what each may import. With
// --check it writes nothing, and fails if a picture or a table is not up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import { cruise } from 'dependency-cruiser';
import configuration from '../.dependency-cruiser.mjs';

const { areas, rooms } = JSON.parse(readFileSync('architecture.json', 'utf8'));
const names = Object.keys(rooms);
const areaOf = (room) => room.replace(/\/.*/, '');
const roomOf = (path) => names.find((room) => `${path}/`.startsWith(`src/${room}/`));

const { output } = await cruise(['src'], { ...configuration.options, includeOnly: '^src/' });
const imports = new Map(names.map((room) => [room, new Set()]));
for (const { source, dependencies } of output.modules)
  for (const { resolved } of dependencies)
    if (roomOf(source) !== roomOf(resolved)) imports.get(roomOf(source)).add(roomOf(resolved));

/** All nodes that can be reached from a node without visiting a node of `passed`. */
function reached(arrows, node, passed) {
  return [...(arrows.get(node) ?? [])]
    .filter((next) => !passed.includes(next))
    .flatMap((next) => [next, ...reached(arrows, next, [...passed, next])]);
}

/** The arrows that no path of several arrows replaces. */
function shortest(arrows) {
  return [...arrows].flatMap(([node, targets]) =>
    [...targets]
      .filter((target) => {
        const others = [...targets].filter((other) => other !== target);
        return !others.some((other) => reached(arrows, other, [node]).includes(target));
      })
      .sort()
      .map((target) => [node, target]),
  );
}

/** Both pictures leave out `index.ts`, which imports everything. */
const betweenAreas = new Map(
  Object.keys(areas)
    .filter((area) => !area.endsWith('.ts'))
    .map((area) => {
      const targets = [...imports].flatMap(([room, imported]) =>
        areaOf(room) === area ? [...imported] : [],
      );
      return [area, new Set(targets.map(areaOf).filter((target) => target !== area))];
    }),
);
const within = (area) =>
  new Map(
    [...imports]
      .filter(([room]) => room.startsWith(`${area}/`))
      .map(([room, imported]) => [
        room,
        new Set([...imported].filter((target) => areaOf(target) === area)),
      ]),
  );
const inner = Object.keys(areas).filter((area) => within(area).size > 0);
const short = (room) => room.replace(/^.*\//, '');
const picture = [
  '```mermaid',
  'flowchart TD',
  ...shortest(betweenAreas).map(([from, to]) => `  ${from} --> ${to}`),
  '```',
  ...inner.flatMap((area) => [
    '',
    `Inside \`${area}\`:`,
    '',
    '```mermaid',
    'flowchart TD',
    ...[...within(area).keys()].map((room) => `  ${room.replace('/', '.')}[${short(room)}]`),
    ...shortest(within(area)).map(
      (ends) => `  ${ends.map((room) => room.replace('/', '.')).join(' --> ')}`,
    ),
    '```',
  ]),
].join('\n');

const isRoom = (room, target) => `${areaOf(room)}/${target}` in rooms;
const tableOf = (header, rows) =>
  // Prettier would pad each row to the widest one.
  [
    '<!-- prettier-ignore -->',
    ...[header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`),
  ];
const table = [
  ...tableOf(
    ['Area', 'Areas that it may import'],
    Object.entries(areas).map(([area, targets]) => [`\`${area}\``, targets.join(', ')]),
  ),
  '',
  ...tableOf(
    ['Room', 'Rooms of its area that it may import', 'Packages'],
    Object.entries(rooms).map(([room, targets]) => [
      `\`${room}\``,
      targets.filter((target) => isRoom(room, target)).join(', '),
      targets.filter((target) => !isRoom(room, target)).join(', '),
    ]),
  ),
].join('\n');

const path = 'docs/architecture/imports.md';
const text = readFileSync(path, 'utf8');
const drawn = Object.entries({ picture, table }).reduce(
  (before, [name, content]) =>
    before.replace(
      new RegExp(`(?<=<!-- ${name} -->\n)[^]*(?=\n<!-- /${name} -->)`),
      () => `\n${content}\n`,
    ),
  text,
);
if (!process.argv.includes('--check')) writeFileSync(path, drawn);
else if (drawn !== text) {
  process.stderr.write(
    `The picture or the table in ${path} is not that of src. Run npm run picture.\n`,
  );
  process.exitCode = 1;
}
