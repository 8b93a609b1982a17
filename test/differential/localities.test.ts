import { afterAll, describe, expect, it } from 'vitest';
import { controlPlane } from '../support/control-plane.ts';
import { leftOut } from '../support/left-out.ts';
import { localityDeviations } from './deviations.ts';
import { expectAsIstiod, meshCases } from './mesh-cases.ts';
import { needless } from './unexplained.ts';

const sidecar = (
  name: string,
  locality: string,
  labels: Readonly<Record<string, string>> = {},
) => ({
  name,
  id: 'sidecar~127.0.0.10~app.default~default.svc.cluster.local',
  metadata: { NAMESPACE: 'default', LABELS: { app: 'app', ...labels } },
  locality,
});

const explained = new Set<RegExp>();

const cases = meshCases('test/differential/localities', [
  sidecar('in a subzone', 'r1/z1/s1', { rack: 'a' }),
  sidecar('in a region of no service', 'r9//', { rack: 'b' }),
  sidecar('nowhere', ''),
]);

if (controlPlane === undefined)
  leftOut('the comparison of localities of the mesh with a real istiod', 'a program');

describe.skipIf(controlPlane === undefined)(
  'with a localityLbSetting of the MeshConfig proxies are told what istiod tells',
  () => {
    it.each(cases)('$name', (testCase) =>
      expectAsIstiod(controlPlane ?? '', testCase, localityDeviations, explained),
    );

    afterAll(() => {
      expect(needless(localityDeviations, explained)).toEqual([]);
    });
  },
);
