import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { limits } from '../support/limits.ts';

/**
 * The tests of the heart of an agent's life. Together with those in this folder they take some
 * minutes.
 */
const core = [
  'start',
  'crash',
  'drain',
  'drain-turns',
  'termination',
  'status-port',
  'sds',
  'keep-envoy',
  'orphan',
  'exec',
  'xds-tls',
];
/** The tests that are about the build, the package or a helper's program, or that run no agent. */
const others = [
  'build',
  'package',
  'library',
  'examples',
  'debian',
  'deploy-kube',
  'image',
  'upgrade',
  'generated',
  'guide',
  'demo',
];
/** The tests that load faults by NODE_OPTIONS, which the executable does not take. */
const faulty = ['machine-faults', 'supervision', 'bugs', 'notices', 'chaos', 'launcher'];
const paths = (names: readonly string[]) => names.map((name) => `test/e2e/${name}.test.ts`);

/** Runs the tests over the executable for this CPU: a part that CI runs, and all the rest. */
export default defineConfig({
  test: {
    env: { PILOT_AGENT_PROGRAM: `executable/pilot-agent-linux-${process.arch}` },
    ...limits,
    maxWorkers: 4,
    globalSetup: ['test/support/tell-left-out.ts', 'test/support/e2e/shared-kube.ts'].map((path) =>
      resolve(path),
    ),
    projects: [
      {
        extends: true,
        test: { name: 'core', include: ['test/packaged/*.test.ts', ...paths(core)] },
      },
      {
        extends: true,
        test: {
          name: 'rest',
          include: ['test/e2e/*.test.ts'],
          exclude: paths([...core, ...others, ...faulty]),
        },
      },
    ],
  },
});
