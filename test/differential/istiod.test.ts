import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeIstiod } from '../support/e2e/istiod.ts';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { cases } from './cases.ts';
import { servedTo, ours } from './compare.ts';
import { deviations, unsteady } from './deviations.ts';
import { differences } from './differences.ts';
import { needless, unexplained } from './unexplained.ts';

const modes = ['REDIRECT', 'TPROXY', 'NONE'];
const explained = new Set<RegExp>();

if (controlPlane === undefined) leftOut('the comparison with a real istiod', 'a program');

describe.skipIf(controlPlane === undefined)('what a proxy is told is what istiod tells it', () => {
  it.each(cases)('$name', async (testCase) => {
    const [port = 0] = await freePorts(3);
    const istiod = makeIstiod(controlPlane ?? '', port);
    writeFileSync(join(istiod.folder, 'all.yaml'), testCase.yaml);
    try {
      await istiod.start();
      for (const mode of modes) {
        const mine = ours(testCase, mode, 'all'); // istiod filters no clusters of a gateway by default
        const left = async () => {
          const differing = differences(mine, await servedTo(testCase, port, mode));
          return unexplained(unexplained(differing, deviations, explained), unsteady, explained);
        };
        // istiod takes connections before it has read its folder.
        await expect.poll(left, { interval: 200 }).toEqual([]);
      }
    } finally {
      await istiod.dispose();
    }
  });

  afterAll(() => {
    expect(needless(deviations, explained)).toEqual([]);
  });
});
