import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { authorizers, authorizersMesh } from './cases.ts';
import { servedTo, ours } from './compare.ts';
import { authorizerDeviations, deviations } from './deviations.ts';
import { differences } from './differences.ts';
import { needless, unexplained } from './unexplained.ts';

if (controlPlane === undefined)
  leftOut('the comparison of authorizers with a real istiod', 'a program');

const explained = new Set<RegExp>();

describe.skipIf(controlPlane === undefined)(
  'who is asked about requests and connections is whom istiod asks',
  () => {
    let istiod: Istiod;
    let port = 0;
    beforeAll(async () => {
      [port = 0] = await freePorts(3);
      istiod = makeIstiod(controlPlane ?? '', port, authorizersMesh);
      await istiod.start();
    });
    afterAll(async () => {
      await istiod.dispose();
      const all = authorizerDeviations.map(([, deviation]) => deviation);
      expect(needless(all, explained)).toEqual([]);
    });

    it.each(authorizers)('$name', async (testCase) => {
      writeFileSync(join(istiod.folder, 'all.yaml'), testCase.yaml);
      const caseDeviations = authorizerDeviations
        .filter(([proxies]) => proxies.test(testCase.name))
        .map(([, deviation]) => deviation);
      const mine = ours(testCase, 'REDIRECT', 'all');
      const left = async () => {
        const differing = differences(mine, await servedTo(testCase, port, 'REDIRECT'));
        return unexplained(differing, [...caseDeviations, ...deviations], explained);
      };
      // istiod reads its folder and its MeshConfig after a while.
      await expect.poll(left, { interval: 200 }).toEqual([]);
    });
  },
);
