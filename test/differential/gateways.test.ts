import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Istiod, makeIstiod } from '../support/e2e/istiod.ts';
import { routeNames, type Told } from '../support/ads-client.ts';
import { controlPlane } from '../support/control-plane.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { gateways } from './cases.ts';
import { servedTo, ours } from './compare.ts';
import { deviations, gatewayDeviations } from './deviations.ts';
import { differences } from './differences.ts';
import { give, marked } from './marked-folder.ts';
import { needless, unexplained } from './unexplained.ts';

const explained = new Set<RegExp>();

if (controlPlane === undefined)
  leftOut('the comparison of gateways with a real istiod', 'a program');

const named = (clusters: Told['cluster']) => clusters.map(({ name }) => String(name)).sort();

/** Returns the clusters to which routes and filter chains lead. */
const ledTo = ({ listener, route }: Told): readonly string[] =>
  [
    ...new Set(
      [...JSON.stringify([listener, route]).matchAll(/"(outbound_?[|.][^"]*\|?[^"]*)"/g)]
        .map(([, name = '']) => name)
        .filter((name) => /^outbound(?:\|\d+\||_\.\d+_\.)/.test(name)),
    ),
  ].sort();

describe.skipIf(controlPlane === undefined)(
  'what a gateway is told is what istiod tells it',
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
      expect(needless(gatewayDeviations, explained)).toEqual([]);
    });

    it.each(gateways.map(marked))('$name', async (markedCase) => {
      await give(istiod, port, markedCase);
      const theirs = await servedTo(markedCase, port, 'REDIRECT');
      const differing = differences(ours(markedCase, 'REDIRECT', 'all'), theirs);
      expect(unexplained(differing, [...gatewayDeviations, ...deviations], explained)).toEqual([]);
    });

    it.each(gateways)('has no cluster that nothing leads to: $name', (testCase) => {
      const all = ours(testCase, 'REDIRECT', 'all');
      const mine = ours(testCase, 'REDIRECT');
      const used = new Set(ledTo(mine));
      const exist = named(all.cluster).filter((name) => used.has(name));
      expect(named(mine.cluster)).toEqual(['BlackHoleCluster', ...exist].sort());
      expect(routeNames(mine.listener)).toEqual(routeNames(all.listener));
    });
  },
);
