import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { servedTo, ours } from './compare.ts';
import { deviations, shapeDeviations, unsteady } from './deviations.ts';
import { differences } from './differences.ts';
import { needless, unexplained } from './unexplained.ts';
import { shapes } from './shape-cases.ts';

if (controlPlane === undefined) leftOut('the comparison of shapes with a real istiod', 'a program');

const explained = new Set<RegExp>();

/** Gives one istiod one shape after the other, because its start takes longest. */
describe.skipIf(controlPlane === undefined)(
  'what a proxy is told of a shape is what istiod tells it',
  () => {
    let istiod: Istiod;
    let port = 0;

    beforeAll(async () => {
      [port = 0] = await freePorts(3);
      istiod = makeIstiod(controlPlane ?? '', port);
      await istiod.start();
    });
    afterAll(() => istiod.dispose());

    it.each(shapes)('$name', async ({ yaml, cases }) => {
      writeFileSync(join(istiod.folder, 'all.new'), yaml);
      renameSync(join(istiod.folder, 'all.new'), join(istiod.folder, 'all.yaml'));
      for (const testCase of cases) {
        for (const mode of ['REDIRECT', 'NONE']) {
          const mine = ours(testCase, mode);
          const left = async () => {
            const differing = differences(mine, await servedTo(testCase, port, mode));
            const all = [...shapeDeviations, ...deviations];
            return unexplained(unexplained(differing, all, explained), unsteady, explained);
          };
          // istiod reads its folder after a while.
          await expect
            .poll(left, { interval: 100, message: `${testCase.name}, ${mode}` })
            .toEqual([]);
        }
      }
    });

    it('differs nowhere else than it is said', () => {
      expect(needless(shapeDeviations, explained)).toEqual([]);
    });
  },
);
