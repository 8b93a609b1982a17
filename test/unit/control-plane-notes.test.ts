import { describe, expect, it } from 'vitest';
import { controlPlaneNotes, missingResources, withControlPlane } from '../../src/run/control-plane-notes.ts';
import type { XdsSummary } from '../../src/xds/telemetry.ts';

const fine: XdsSummary = { address: 'istiod:15012', isAnswering: true, trouble: undefined, storedOf: undefined, isHeld: true };
const away: XdsSummary = { ...fine, isAnswering: false, trouble: { reason: 'connection refused', since: 60_000 } };
const wrong = 'control plane istiod:15012: connection refused, since 1970-01-01T00:01:00.000Z';
const waiting = 'config not received from XDS server';

describe('what is said of the control plane', () => {
  it('goes with the reason why Envoy is not ready, where Envoy waits for its configuration', () => {
    expect(withControlPlane(waiting, away, 'a:1')).toBe(`${waiting}; ${wrong}`);
    expect(withControlPlane('workers have not yet started', away, 'a:1')).toBe('workers have not yet started');
    expect(withControlPlane(waiting, fine, 'a:1')).toBe(waiting);
    expect(withControlPlane(waiting, undefined, 'a:1')).toBe(`${waiting}; control plane a:1: Envoy itself connects to it`);
    expect(withControlPlane(waiting, undefined, '')).toBe(waiting);
  });

  it('is a note while Envoy is ready: what is wrong, and how old the configuration is', () => {
    expect(controlPlaneNotes(undefined, 0)).toEqual([]);
    expect(controlPlaneNotes(fine, 0)).toEqual([]);
    expect(controlPlaneNotes(away, 0)).toEqual([wrong]);
    expect(controlPlaneNotes({ ...away, storedOf: 60_000 }, 15 * 60_000)).toEqual([wrong, 'serving the configuration of 14 min ago']);
  });

  it('is what a new Envoy would wait for', () => {
    expect(missingResources(undefined)).toBe('');
    expect(missingResources(away)).toBe('');
    expect(missingResources({ ...away, isHeld: false })).toBe('clusters and listeners of istiod:15012');
  });
});
