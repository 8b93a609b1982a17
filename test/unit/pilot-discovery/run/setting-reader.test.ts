import { describe, expect, it } from 'vitest';
import { discoveryConfig } from '../../../../src/pilot-discovery/run/discovery-config.ts';

const longestTimer = 2 ** 31 - 1;

describe('durations', () => {
  it('are at most what a timer can wait: a longer one would end at once', () => {
    const { config, problems } = discoveryConfig(
      { massRemovalHold: '1000h', keepaliveTimeout: '596h', shutdownDuration: '15s' },
      { PILOT_ANALYSIS_INTERVAL: '1000h', PILOT_ENABLE_ANALYSIS: 'true' },
    );
    expect(problems).toEqual([]);
    expect(config.massRemovalHold).toBe(longestTimer);
    expect(config.analysisInterval).toBe(longestTimer);
    expect(config.keepalive.timeout).toBe(596 * 3_600_000);
    expect(config.shutdownDuration).toBe(15_000);
  });
});
