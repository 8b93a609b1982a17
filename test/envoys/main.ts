import { execFileSync, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { cacheDir } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { installEnvoy } from '../../src/pilot-agent/envoy/install-envoy.ts';
import { oldestEnvoy } from '../support/oldest-envoy.ts';

/** Tests that show in a minute or two whether the agent and an Envoy understand each other. */
const quick = [
  ...[
    'test/contract/envoy-proxy',
    'test/contract/envoy-refusals',
    'test/unit/bootstrap-golden',
    'test/unit/bootstrap-envoy',
  ],
  ...[
    'test/e2e/start',
    'test/e2e/crash',
    'test/e2e/drain.test',
    'test/e2e/termination',
    'test/e2e/generated',
    'test/e2e/xds-tls',
  ],
];
/** The other tests of a full run: the core of the end-to-end suite. */
const core = [
  ...[
    'test/e2e/load',
    'test/e2e/rescue',
    'test/e2e/keep-envoy',
    'test/e2e/upgrade',
    'test/e2e/drain-',
    'test/e2e/sds',
  ],
  ...[
    'test/e2e/bad-input-',
    'test/e2e/envoy-sockets',
    'test/e2e/override',
    'test/e2e/status-port',
    'test/e2e/unanswered',
  ],
];

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const oldest = await oldestEnvoy();
const envoys = values.quick
  ? [oldest]
  : [oldest, await installEnvoy({ cacheDir: cacheDir(process.env) })];

for (const envoy of envoys) {
  const env = { ...process.env, ENVOY_BIN: envoy };
  const envoyPath = execFileSync(process.execPath, ['dist/pilot-agent.cjs', 'envoy', 'path'], {
    env,
    encoding: 'utf8',
  }).trim();
  if (envoyPath !== envoy)
    throw new Error(
      `the tests would run ${envoyPath} instead of ${envoy}: take it away from there`,
    );
  console.log(`\n${execFileSync(envoy, ['--version'], { encoding: 'utf8' }).trim()}`);
  const files = values.quick ? quick : [...quick, ...core];
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/vitest/vitest.mjs', 'run', ...files],
    { env, stdio: 'inherit' },
  );
  if (status !== 0) process.exit(status ?? 1);
}
