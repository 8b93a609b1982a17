import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { files } from './cases.ts';
import { deviations, fileDeviations } from './deviations.ts';
import { differences } from './differences.ts';
import { servedTo, ours } from './compare.ts';
import { give, marked } from './marked-folder.ts';
import { needless, unexplained } from './unexplained.ts';

const modes = ['REDIRECT', 'TPROXY', 'NONE'];
const explained = new Set<RegExp>();

if (controlPlane === undefined)
  leftOut('the comparison of shapes of folders with a real istiod', 'a program');

describe.skipIf(controlPlane === undefined)(
  'what a proxy is told of the shapes that real folders have',
  () => {
    let istiod: Istiod;
    let port = 0;
    beforeAll(async () => {
      [port = 0] = await freePorts(3);
      istiod = makeIstiod(controlPlane ?? '', port);
      await istiod.start();
    });
    afterAll(async () => {
      await istiod.dispose();
      expect(needless(fileDeviations, explained)).toEqual([]);
    });

    it.each(files.map(marked))('$name', async (markedCase) => {
      await give(istiod, port, markedCase);
      for (const mode of modes) {
        // istiod filters no clusters of a gateway by default.
        const differing = differences(
          ours(markedCase, mode, 'all'),
          await servedTo(markedCase, port, mode),
        );
        const all = [...fileDeviations, ...deviations];
        expect(unexplained(differing, all, explained), mode).toEqual([]);
      }
    });
  },
);
