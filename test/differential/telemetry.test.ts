import { afterAll, describe, expect, it } from 'vitest';
import { controlPlane } from '../support/control-plane.ts';
import { withMeshIstiod } from '../support/e2e/mesh-istiod.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { istiods, ours } from './compare.ts';
import { telemetryDeviations } from './deviations.ts';
import { differences } from './differences.ts';
import { telemetryCases } from './telemetry-cases.ts';
import { needless, unexplained } from './unexplained.ts';

const explained = new Set<RegExp>();

if (controlPlane === undefined)
  leftOut('the comparison of telemetry with a real istiod', 'a program');

describe.skipIf(controlPlane === undefined)('what proxies say of their calls is as istiod', () => {
  it.each(telemetryCases)('$name', async ({ meshText, yaml, proxies }) => {
    const [port = 0] = await freePorts(3);
    await withMeshIstiod(controlPlane ?? '', { mesh: meshText, yaml, port }, async () => {
      for (const proxy of proxies)
        for (const mode of ['REDIRECT', 'NONE']) {
          const mine = ours(proxy, mode, 'all');
          const left = async () =>
            unexplained(
              differences(mine, await istiods(proxy, port, mode)),
              telemetryDeviations,
              explained,
            );
          // istiod takes connections before it has read its folder.
          await expect.poll(left, { interval: 200 }).toEqual([]);
        }
    });
  });

  afterAll(() => {
    expect(needless(telemetryDeviations, explained)).toEqual([]);
  });
});
