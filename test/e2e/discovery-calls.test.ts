import { describe, expect, it } from 'vitest';
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
  const asking = {
    service: 8_080,
    listeners: { gateway: 8_081, 'gateway by TLS': 8_443, 'TLS of the gateway': 8_444 },
  };

  it('stands for the same rules and calls each time, and another one for others', () => {
    expect(planOf(1, 50, asking)).toEqual(planOf(1, 50, asking));
    expect(planOf(1, 50, asking)).not.toEqual(planOf(2, 50, asking));
  });

  it('sends calls to each listener', () => {
    const { calls } = planOf(1, 200, asking);
    expect(new Set(calls.map(({ via }) => via))).toEqual(new Set(vias));
  });
});
