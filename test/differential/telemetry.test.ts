import { afterAll, describe, expect, it } from 'vitest';
import { controlPlane } from '../support/control-plane.ts';
import { leftOut } from '../support/left-out.ts';
import { telemetryDeviations } from './deviations.ts';
import { expectAsIstiod } from './mesh-cases.ts';
import { telemetryCases } from './telemetry-cases.ts';
import { needless } from './unexplained.ts';

const explained = new Set<RegExp>();

if (controlPlane === undefined)
  leftOut('the comparison of telemetry with a real istiod', 'a program');

describe.skipIf(controlPlane === undefined)('what proxies say of their calls is as istiod', () => {
  it.each(telemetryCases)('$name', (testCase) =>
    expectAsIstiod(controlPlane ?? '', testCase, telemetryDeviations, explained),
  );

  afterAll(() => {
    expect(needless(telemetryDeviations, explained)).toEqual([]);
  });
});
