import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTimings } from './support/timings.ts';

/** The limit for a file of end-to-end tests, in seconds of the clock. */
const longest = 45;
/** The files above the limit, each with its reason. */
const long: Readonly<Record<string, string>> = {
  'test/browser/page.test.ts': '1,000 epochs and 100,000 lines in a real browser',
  'test/contract/real-registries.test.ts': 'a real API and a real Consul are stopped four times',
  'test/differential/envoy.test.ts': 'a real Envoy takes the configuration of each folder',
  'test/differential/istiod.test.ts': 'a real istiod answers each folder',
  'test/differential/kube-folders.test.ts': 'each of 110 folders is written to a real API',
  'test/e2e/bad-input-start.test.ts': 'a program starts for each mistake, one after the other',
  'test/e2e/build.test.ts': 'the programs are built three times',
  'test/e2e/ca.test.ts': 'an authority is away, and certificates are renewed as they age',
  'test/e2e/chaos.test.ts': '30 events of a seed over a real Envoy',
  'test/e2e/check-machine.test.ts': 'it starts a program for each finding, one after the other',
  'test/e2e/discovery-ca.test.ts': 'each variable of the authority has a program of its own',
  'test/e2e/discovery-crowd.test.ts': '10,000 services, and a window of 15 s',
  'test/e2e/discovery-kube.test.ts': 'a real API is away, and takes rights to kinds away',
  'test/e2e/discovery-root-kube.test.ts': 'an istiod shares the root, and a real API is away',
  'test/e2e/discovery-roots-kube.test.ts': 'two instances and istiod write to a real API',
  'test/e2e/discovery-traffic.test.ts': '10,000 requests for each share, in two variants of xDS',
  'test/e2e/keep-envoy.test.ts': 'agents are killed one after the other, with their Envoys kept',
  'test/e2e/kube-follow.test.ts': 'a real API restarts with 1,000 Secrets, and takes rights away',
  'test/e2e/machine-faults.test.ts': 'each fault of a machine lasts through a hot restart',
  'test/e2e/mesh-demo.test.ts': 'three demos start one after the other',
  'test/e2e/mesh-istiod-away.test.ts': 'istiod is away for 33 s',
  'test/e2e/mesh-mtls.test.ts': 'two sidecars hot-restart and rotate in three modes',
  'test/e2e/package.test.ts': 'the package is packed, installed and compiled against',
  'test/e2e/rescue.test.ts': 'children are killed at eight moments, one after the other',
  'test/e2e/sds.test.ts': 'eighty rotations under load',
  'test/e2e/sources.test.ts': 'its sources are away, and are asked again after growing pauses',
  'test/e2e/status-port.test.ts': '10 hot restarts, asked every 5 ms',
  'test/e2e/supervision.test.ts': 'each part of the agent is killed at each moment',
  'test/e2e/terminal.test.ts': 'a real terminal in two sizes',
};

const endToEnd = /^test\/(?:browser|contract|differential|e2e)\//;
const timings = readTimings();
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('packaged'))
  .map((name) => join('test', name));

/** Tests the page that `npm run timings` writes. No clock is read here. */
describe('test/timings.md', () => {
  it('has each file of tests, and no other', () => {
    expect(files.filter((file) => !timings.some((timing) => timing.file === file))).toEqual([]);
    expect(timings.filter(({ file }) => !existsSync(file))).toEqual([]);
  });

  it(`has no file of end-to-end tests above ${String(longest)} s without a reason`, () => {
    const above = timings.filter(({ file, seconds }) => seconds > longest && endToEnd.test(file));
    expect(above.map(({ file }) => file).sort()).toEqual(Object.keys(long).sort());
  });
});

/** The files that promise a time: `orphan.test.ts` promises what happens 2 s after a SIGKILL. */
const aboutTheClock = ['test/e2e/orphan.test.ts'];

/** The limits of polls and tests that are shorter than those of `test/support/limits.ts`. */
const ownLimits = [
  /\.poll\([^;]*\btimeout: (?:\d|[1-5]\d)_\d{3}\b/,
  /^ *(?:it|describe)\b.*\{ timeout: (?:\d{1,2}|1[0-7]\d)_\d{3} \}/m,
  /^ *\{ timeout: (?:\d{1,2}|1[0-7]\d)_\d{3} \},$/m,
];

it('no test has a shorter limit of its own: a busy machine is late', () => {
  const filesWithLimits = files.filter((file) => {
    const text = readFileSync(file, 'utf8');
    return ownLimits.some((limit) => limit.test(text));
  });
  expect(filesWithLimits).toEqual(aboutTheClock);
});
