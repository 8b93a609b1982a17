import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { afterAll, describe, expect, it } from 'vitest';
import { clustersOf } from '../../src/generate/clusters.ts';
import { endpointsOf } from '../../src/generate/endpoints.ts';
import { listenersOf } from '../../src/generate/listeners.ts';
import { readNode } from '../../src/generate/read-node.ts';
import { routesOf } from '../../src/generate/routes.ts';
import { withWorkload } from '../../src/generate/with-workload.ts';
import { LocalitySchema } from '../../src/proto/envoy/config/core/v3/base_pb.ts';
import { typeUrls, type XdsResource, type XdsType } from '../../src/push/view.ts';
import { makeIstiod } from '../e2e/support/istiod.ts';
import { askAll, type Published, routeNames, type Told } from '../support/ads-client.ts';
import { controlPlane } from '../support/control-plane.ts';
import { published } from '../support/envoy-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { environmentOf } from '../support/generated.ts';
import { leftOut } from '../support/left-out.ts';
import { type Case, cases } from './cases.ts';
import { deviations, unsteady } from './deviations.ts';
import { differences } from './differences.ts';

const modes = ['REDIRECT', 'TPROXY', 'NONE'];
const explained = new Set<RegExp>();

if (controlPlane === undefined) leftOut('the comparison with a real istiod', 'a program');

/** What pilot-discovery tells the proxy of a case. */
function ours({ yaml, id, metadata, locality }: Case, mode: string): Told {
  const environment = environmentOf(yaml);
  const said = readNode({ id, metadata: { ...metadata, INTERCEPTION_MODE: mode } }, locality);
  if (typeof said === 'string') throw new Error(said);
  const node = withWorkload(environment, said);
  const read = (type: XdsType, resources: readonly XdsResource[]) =>
    resources.map(({ body }) => published(typeUrls[type], body) as Published);
  const cluster = read('cluster', clustersOf(environment, node));
  const listener = read('listener', listenersOf(environment, node));
  const asked = new Set(routeNames(listener));
  const told = new Set(cluster.filter((one) => one['type'] === 'EDS').map((one) => one['name']));
  return {
    cluster,
    endpoint: read('endpoint', endpointsOf(environment, node)).filter((one) => told.has(one['cluster_name'])),
    listener,
    route: read('route', routesOf(environment, node)).filter((one) => asked.has(String(one['name']))),
  };
}

/** What a real istiod tells it. */
async function istiods({ id, metadata, locality }: Case, port: number, mode: string): Promise<Told> {
  const [region = '', zone = '', subZone = ''] = locality.split('/');
  const place = locality === '' ? {} : { locality: toBinary(LocalitySchema, create(LocalitySchema, { region, zone, subZone })) };
  return askAll(port, { id, metadata: { ...metadata, INTERCEPTION_MODE: mode }, ...place });
}

describe.skipIf(controlPlane === undefined)('what a proxy is told is what istiod tells it', () => {
  it.each(cases)('$name', { timeout: 60_000 }, async (one) => {
    const [port = 0] = await freePorts(3);
    const istiod = makeIstiod(controlPlane ?? '', port);
    writeFileSync(join(istiod.folder, 'all.yaml'), one.yaml);
    try {
      await istiod.start();
      for (const mode of modes) {
        const mine = ours(one, mode);
        const unexplained = async () => {
          const found = differences(mine, await istiods(one, port, mode));
          return found.filter((difference) => {
            const known = deviations.find(([where]) => where.test(difference));
            if (known !== undefined) explained.add(known[0]);
            return known === undefined && !unsteady.some(([where]) => where.test(difference));
          });
        };
        // istiod takes connections before it has read its folder.
        await expect.poll(unexplained, { timeout: 15_000, interval: 200 }).toEqual([]);
      }
    } finally {
      await istiod.dispose();
    }
  });

  afterAll(() => {
    expect(deviations.filter(([where]) => !explained.has(where)).map(([, why]) => why)).toEqual([]);
  });
});
