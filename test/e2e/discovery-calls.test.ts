import { describe, expect, it } from 'vitest';
import type { StagePorts } from '../calls/fixed-resources.ts';
import { planOf, vias } from '../calls/plan.ts';
import { runCalls } from '../calls/run-calls.ts';
import { controlPlane } from '../support/control-plane.ts';
import { leftOut } from '../support/left-out.ts';

if (controlPlane === undefined) leftOut('calls over a real istiod', 'a program');

it.skipIf(controlPlane === undefined)(
  'calls through a gateway and sidecars have the answers that they have over istiod (20 of seed 5)',
  async () => {
    const { differences, byAnswer } = await runCalls({
      seed: 5,
      calls: 20,
      istiod: controlPlane ?? '',
    });
    expect(differences).toEqual([]);
    expect(Object.keys(byAnswer).filter((answer) => answer.endsWith(' 200'))).not.toEqual([]);
  },
);

describe('a seed of calls', () => {
  const ports: StagePorts = {
    ...{ service: 8_080, secure: 8_445, other: 8_081, proxy: 8_082 },
    ...{ gateway: 8_083, https: 8_443, passing: 8_444, inbound: [9_001, 9_002] },
    applications: new Map(),
    secured: [9_003, 9_004],
    ...{ socket: '/tmp/calls.sock', certificates: '/tmp/certificates' },
  };

  it('stands for the same rules and calls each time, and another one for others', () => {
    expect(planOf(1, 50, ports)).toEqual(planOf(1, 50, ports));
    expect(planOf(1, 50, ports)).not.toEqual(planOf(2, 50, ports));
  });

  it('sends calls to each listener', () => {
    const { calls } = planOf(1, 200, ports);
    expect(new Set(calls.map(({ via }) => via))).toEqual(new Set(vias));
  });
});
