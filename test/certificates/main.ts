import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, findEnvoy, pinnedEnvoy } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { pushVerdicts, restartVerdicts } from './envoy-verdicts.ts';
import { certificateKinds } from './kinds.ts';
import { report, type Verdicts } from './report.ts';

const { env } = process;
const envoy = findEnvoy({
  binaryPath: undefined,
  env,
  cacheDir: cacheDir(env),
  version: pinnedEnvoy.version,
});
if (!envoy.ok) throw new Error(envoy.reason);
const now = Date.now();
const kinds = certificateKinds(now);
const restart = await restartVerdicts(envoy.path, kinds);
const push = await pushVerdicts(envoy.path, kinds);
const verdicts: Verdicts = Object.fromEntries(
  kinds.flatMap(({ name }, index) => {
    const [restarted, pushed] = [restart[index], push[index]];
    return restarted === undefined || pushed === undefined
      ? []
      : [[name, { restart: restarted, push: pushed }]];
  }),
);
writeFileSync(join(import.meta.dirname, 'verdicts.json'), `${JSON.stringify(verdicts, null, 2)}\n`);
writeFileSync(join(import.meta.dirname, 'report.md'), report(kinds, verdicts, now));
