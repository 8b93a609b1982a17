import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { meshNetworks, networks } from './cases.ts';
import { servedTo, ours } from './compare.ts';
import { deviations } from './deviations.ts';
import { differences } from './differences.ts';
import { give, marked } from './marked-folder.ts';
import { unexplained } from './unexplained.ts';

if (controlPlane === undefined)
  leftOut('the comparison of networks with a real istiod', 'a program');

describe.skipIf(controlPlane === undefined)(
  'what a proxy is told of endpoints in other networks is what istiod tells',
  () => {
    let istiod: Istiod;
    let port = 0;
    beforeAll(async () => {
      [port = 0] = await freePorts(3);
      istiod = makeIstiod(controlPlane ?? '', port, '', meshNetworks);
      await istiod.start();
    });
    afterAll(() => istiod.dispose());

    it.each(networks.map(marked))('$name', async (markedCase) => {
      await give(istiod, port, markedCase);
      const differing = differences(
        ours(markedCase, 'REDIRECT', 'all'),
        await servedTo(markedCase, port, 'REDIRECT'),
      );
      expect(unexplained(differing, deviations, new Set())).toEqual([]);
    });
  },
);
