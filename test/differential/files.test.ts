import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { type Case, files } from './cases.ts';
import { deviations, fileDeviations } from './deviations.ts';
import { differences } from './differences.ts';
import { istiods, ours } from './compare.ts';
import { needless, unexplained } from './unexplained.ts';

const modes = ['REDIRECT', 'NONE'];
const explained = new Set<RegExp>();

if (controlPlane === undefined)
  leftOut('the comparison of shapes of folders with a real istiod', 'a program');

/** A service that tells the folder of a case from that of the case before. */
const marked = ({ yaml }: Case, number: number) => `${yaml}---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: marker, namespace: default }
spec: { hosts: [marker-${number}.mesh], ports: [{ number: 9999, name: tcp, protocol: TCP }], resolution: STATIC }
`;

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

    it.each(files.map((one, number) => ({ ...one, yaml: marked(one, number), number })))(
      '$name',
      async ({ number, ...one }) => {
        writeFileSync(join(istiod.folder, 'all.yaml'), one.yaml);
        const isThere = async () =>
          JSON.stringify((await istiods(one, port, 'NONE')).cluster).includes(
            `marker-${number}.mesh`,
          );
        await expect.poll(isThere, { interval: 20 }).toBe(true);
        for (const mode of modes) {
          const found = differences(ours(one, mode), await istiods(one, port, mode));
          const all = [...fileDeviations, ...deviations];
          expect(unexplained(found, all, explained), mode).toEqual([]);
        }
      },
    );
  },
);
