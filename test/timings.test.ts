import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTimings } from './support/timings.ts';

/** In seconds of the clock, of a file of end-to-end tests. */
const longest = 45;
/** Longer ones, each with its reason. */
const long: Readonly<Record<string, string>> = {
  'test/contract/real-registries.test.ts': 'a real API and a real Consul are stopped four times',
  'test/differential/kube-folders.test.ts': 'each of 105 folders is written to a real API',
  'test/e2e/chaos.test.ts': '30 events of a seed over a real Envoy',
  'test/e2e/discovery-ca.test.ts':
    'an agent renews its certificate three times, 30 s after each other',
  'test/e2e/discovery-crowd.test.ts': '10,000 services, and a window of 15 s',
  'test/e2e/discovery-kube.test.ts': 'a real API is stopped twice, and the pauses are waited for',
  'test/e2e/kube-follow.test.ts': 'the pauses between attempts at a real API are waited for',
  'test/e2e/mesh-istiod-away.test.ts': 'istiod is away for 33 s',
  'test/e2e/mesh-mtls.test.ts': 'two sidecars hot-restart and rotate in three modes',
  'test/e2e/mesh.test.ts': 'certificates of a real mesh are waited for',
  'test/e2e/sds.test.ts': 'it starts many agents one after the other',
  'test/e2e/sources.test.ts': 'its sources are away, and are asked again after growing pauses',
  'test/e2e/unanswered.test.ts': 'a child waits 20 s for its configuration',
};

const timings = readTimings();
const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && !name.startsWith('packaged'))
  .map((name) => join('test', name));

/** `npm run timings` writes the page. No clock is read here. */
describe('test/timings.md', () => {
  it('has each file of tests, and no other', () => {
    expect(files.filter((file) => !timings.some((timing) => timing.file === file))).toEqual([]);
    expect(timings.filter(({ file }) => !existsSync(file))).toEqual([]);
  });

  it(`has no file of end-to-end tests above ${String(longest)} s without a reason`, () => {
    const above = timings.filter(
      ({ file, seconds }) => seconds > longest && !file.startsWith('test/unit'),
    );
    expect(above.map(({ file }) => file).sort()).toEqual(Object.keys(long).sort());
  });
});

/** `orphan.test.ts` promises what happens 2 s after a SIGKILL. */
const aboutTheClock = ['test/e2e/orphan.test.ts'];

it('no end-to-end test has a limit of its own for a poll: a busy machine is late', () => {
  const own = files.filter(
    (file) =>
      /^test\/(?:browser|contract|differential|e2e)\//.test(file) &&
      /\.poll\([^;]*\btimeout: (?:\d|[1-5]\d)_\d{3}\b/.test(readFileSync(file, 'utf8')),
  );
  expect(own).toEqual(aboutTheClock);
});
