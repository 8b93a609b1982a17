import type { Stage } from './stage.ts';

export const bin = (name: string): string => `node_modules/.bin/${name}`;

/** Checks the format of all files, or formats the given files. */
export function format(files: 'all' | readonly string[]): Stage {
  const look = files === 'all' ? ['--check', '.'] : ['--write', '--ignore-unknown', ...files];
  return {
    name: 'format',
    command: [bin('prettier'), '--log-level', 'warn', ...look],
    again: 'npm run format',
    output: 'if it fails',
  };
}

/** Checks types and lints in one program: all files, or those that a change can affect. */
export function typesAndLint(files: 'all' | 'reached'): Stage {
  const script = 'scripts/check/types-and-lint.ts';
  return {
    name: 'types and lint',
    command: [
      process.execPath,
      '--max-semi-space-size=64', // measured: a tenth less of time and of CPU
      '--import',
      'tsx',
      script,
      ...(files === 'all' ? ['--all'] : []),
    ],
    again: `node --import tsx ${script}`,
    output: 'if it fails',
  };
}

export const architecture: Stage = {
  name: 'architecture',
  command: [bin('depcruise'), '--config', '.dependency-cruiser.mjs', 'src'],
  again: 'npm run lint:architecture',
  output: 'if it fails',
};

export const unused: Stage = {
  name: 'unused code',
  command: [bin('knip')],
  again: 'npm run lint:unused',
  output: 'if it fails',
};

/** Runs the unit and marble tests: all, or those that `reachedTests` returns. */
export function unitTests(reached: readonly string[] | 'everything'): Stage {
  const projects = ['--project', 'unit', '--project', 'apart'];
  const args =
    reached === 'everything' ? ['run', ...projects] : ['related', '--run', ...projects, ...reached];
  const name = `unit and marble tests${reached === 'everything' ? '' : ' that the change can reach'}`;
  return {
    name,
    command: [bin('vitest'), ...args],
    again: `npx vitest run ${projects.join(' ')}`,
    output: 'if it fails',
  };
}
