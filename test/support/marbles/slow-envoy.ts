import type { RunHelpers } from 'rxjs/testing';
import * as testing from '../../../src/testing/index.ts';

// A diagram can show what happens before an Envoy is LIVE if that takes half a second, which is
// five times as long as it really takes.
const liveAfter = 500;

export function fakeProxy(m: Pick<RunHelpers, 'cold'>, script: testing.Script) {
  return testing.fakeProxy(m, { liveAfter, ...script });
}

export function scriptedAgent(
  m: RunHelpers,
  inputs: testing.DrawnInputs,
  script: testing.Script,
  settings?: testing.Settings,
) {
  return testing.scriptedAgent(m, inputs, { liveAfter, ...script }, settings);
}
