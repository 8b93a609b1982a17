import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/**
 * `areas`: the folders of src, and which of the others each may import. `rooms`: the folders inside
 * an area, or the area itself, each with the rooms of its own area and the packages that it may
 * import. docs/architecture/imports.md shows both.
 */
const { areas, rooms } = JSON.parse(
  readFileSync(new URL('architecture.json', import.meta.url), 'utf8'),
);

const require = createRequire(import.meta.url);

/**
 * The entry file of a package, or of a part of it, for `import` and `require`: so `zod/mini` is not
 * `zod`. The path begins at the last node_modules, which may be a link.
 */
function entryOf(name) {
  const entries = [import.meta.resolve(name), require.resolve(name)];
  const files = entries.map((entry) => entry.replace(/^.*\/node_modules\//, ''));
  return `(?:^|/)node_modules/(?:${files.join('|')})$`;
}

const areaOf = (room) => room.replace(/\/.*/, '');
const pathOf = (folder) => `^src/${folder}(?:/|$)`;

function pathsOf(room, target) {
  if (target === 'node:') return []; // not a path: see dependencyTypesNot
  if (target === 'package.json') return ['^package\\.json$'];
  const sibling = `${areaOf(room)}/${target}`;
  return sibling in rooms ? [pathOf(sibling)] : [entryOf(target)];
}

const packageOf = (target) => /^(?:@[^/]+\/)?[^/]+/.exec(target)[0];
const packages = [...new Set(Object.values(rooms).flat().map(packageOf))];

/** Folders outside src, such as test, are in no row, so no module of src may import them. */
const rows = Object.entries(rooms).map(([room, targets]) => ({
  name: `${room} imports only what its row allows`,
  severity: 'error',
  from: { path: pathOf(room) },
  to: {
    pathNot: [
      pathOf(room),
      ...areas[areaOf(room)].map(pathOf),
      ...targets.flatMap((target) => pathsOf(room, target)),
    ],
    ...(targets.includes('node:') ? { dependencyTypesNot: ['core'] } : {}),
  },
}));

export default {
  forbidden: [
    ...rows,
    {
      name: 'each folder has a row in architecture.json',
      severity: 'error',
      from: { path: '^src/', pathNot: rows.map(({ from }) => from.path) },
      to: {},
    },
    {
      name: 'src needs only packages that a row names', // all are bundled: none is in `dependencies`
      severity: 'error',
      from: { path: '^src/' },
      to: {
        path: '(?:^|/)node_modules/',
        pathNot: packages.map((name) => `(?:^|/)node_modules/${name}/`),
      },
    },
    {
      name: 'no cycle',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'no circle of folders',
      severity: 'error',
      scope: 'folder',
      from: { path: '^src/' },
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true, // types count
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'require', 'default'],
    },
  },
};
