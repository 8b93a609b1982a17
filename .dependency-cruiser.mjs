import { readFileSync } from 'node:fs';

/** What each folder of src may import; ARCHITECTURE.md shows it. Whoever may import `everything else` puts things together, and is imported only by whom it is named for. */
const table = JSON.parse(readFileSync(new URL('architecture.json', import.meta.url), 'utf8'));
const composing = Object.keys(table).filter((folder) => table[folder].includes('everything else'));

/** The file that a package, or a part of it, begins with: it tells `zod/mini` from `zod`. From the last node_modules on, which may be a link. */
const entryOf = (name) => `(?:^|/)node_modules/${import.meta.resolve(name).replace(/^.*\/node_modules\//, '')}$`;

function pathsOf(target) {
  if (target === 'node:') return []; // not a path: see dependencyTypesNot
  if (target === 'package.json') return ['^package\\.json$'];
  if (target === 'everything else') return [`^src/(?!(?:${composing.join('|')})(?:/|$))`, '(?:^|/)node_modules/'];
  return target in table ? [`^src/${target}/`] : [entryOf(target)];
}

const packages = [...Object.values(table).flat(), 'commander'].map((target) => /^(?:@[^/]+\/)?[^/]+/.exec(target)[0]);

/** Test, demo and all else outside src is in no row, and so forbidden to each. */
const rows = Object.entries(table).map(([folder, targets]) => ({
  name: `${folder} imports only what its row allows`,
  severity: 'error',
  from: { path: `^src/${folder}(?:/|$)` },
  to: {
    pathNot: targets.flatMap(pathsOf),
    ...(targets.includes('node:') || targets.includes('everything else') ? { dependencyTypesNot: ['core'] } : {}),
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
      name: 'src needs only packages that a row names, and commander', // all of them are bundled, so none is in `dependencies`
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '(?:^|/)node_modules/', pathNot: packages.map((name) => `(?:^|/)node_modules/${name}/`) },
    },
    {
      name: 'no cycle',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true, // types count
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['node', 'import', 'require', 'default'] },
  },
};
