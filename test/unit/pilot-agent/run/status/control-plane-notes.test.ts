import { describe, expect, it } from 'vitest';
import {
  controlPlaneNotes,
  missingResources,
  withWaits,
} from '../../../../../src/pilot-agent/run/status/control-plane-notes.ts';
import {
  firstSummary,
  type XdsSummary,
} from '../../../../../src/pilot-agent/xds-proxy/relay-telemetry.ts';

const fine: XdsSummary = {
  ...firstSummary('istiod:15012'),
  isAnswering: true,
  canServeEnvoy: true,
};
const away: XdsSummary = {
  ...fine,
  isAnswering: false,
  trouble: { reason: 'connection refused', since: 60_000 },
};
const wrong = 'control plane istiod:15012: connection refused, since 1970-01-01T00:01:00.000Z';
const waiting = 'config not received from XDS server';

describe('what is said of the control plane', () => {
  it('goes with the reason why Envoy is not ready, when Envoy waits for its configuration', () => {
    const none = { authority: undefined, xds: undefined, address: 'a:1' };
    expect(withWaits(waiting, { ...none, xds: away })).toBe(`${waiting}; ${wrong}`);
    expect(withWaits('workers have not yet started', { ...none, xds: away })).toBe(
      'workers have not yet started',
    );
    expect(withWaits(waiting, { ...none, xds: fine })).toBe(waiting);
    expect(withWaits(waiting, none)).toBe(
      `${waiting}; control plane a:1: Envoy itself connects to it`,
    );
    expect(withWaits(waiting, { ...none, address: '' })).toBe(waiting);
  });

  it.each([waiting, 'server is not live, current state is: INITIALIZING'])(
    'comes after the authority of which the first certificate is not there yet: %s',
    (reason) => {
      const authority = { address: 'ca:15012', reason: 'connection refused', since: 0 };
      const first =
        'no certificate yet: certificate authority ca:15012: connection refused, since 1970-01-01T00:00:00.000Z';
      expect(withWaits(reason, { authority, xds: away, address: 'a:1' })).toBe(
        `${first}; ${wrong}`,
      );
      expect(withWaits(reason, { authority, xds: fine, address: 'a:1' })).toBe(first);
      expect(withWaits(reason, { authority, xds: undefined, address: 'a:1' })).toBe(first);
      expect(withWaits('Envoy does not answer', { authority, xds: away, address: 'a:1' })).toBe(
        'Envoy does not answer',
      );
    },
  );

  it('is a note while Envoy is ready: what is wrong, and how old the configuration is', () => {
    expect(controlPlaneNotes(undefined, 0)).toEqual([]);
    expect(controlPlaneNotes(fine, 0)).toEqual([]);
    expect(controlPlaneNotes(away, 0)).toEqual([wrong]);
    expect(controlPlaneNotes({ ...away, storedOf: 60_000 }, 15 * 60_000)).toEqual([
      wrong,
      'serving the configuration of 14 min ago',
    ]);
  });

  it('is what a new Envoy would wait for', () => {
    expect(missingResources(undefined)).toBe('');
    expect(missingResources(away)).toBe('');
    expect(missingResources({ ...away, canServeEnvoy: false })).toBe(
      'clusters and listeners of istiod:15012',
    );
  });
});
