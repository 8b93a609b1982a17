import { describe, expect, it } from 'vitest';
import { identityOf, withCompatibility } from '../../../src/proxy/compatibility.ts';

describe('withCompatibility', () => {
  const same = identityOf(process.execPath);

  it('has no room for a child if the sockets of the running Envoy are abstract', async () => {
    const newest = { pid: process.pid, socketPath: '' };
    const verdict = await withCompatibility({ kind: 'works' }, process.execPath, same, newest);
    expect(verdict).toEqual({ kind: 'works-alone' });
  });

  it('keeps the verdict if no Envoy runs', async () => {
    const newest = { pid: undefined, socketPath: '' };
    const verdict = await withCompatibility({ kind: 'works' }, process.execPath, same, newest);
    expect(verdict).toEqual({ kind: 'works' });
  });
});
