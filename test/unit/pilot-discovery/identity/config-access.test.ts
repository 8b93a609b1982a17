import { describe, expect, it } from 'vitest';
import {
  configAccess,
  haveReaders,
  noReaders,
  readConfigReaders,
} from '../../../../src/pilot-discovery/identity/config-access.ts';

const caller = {
  trustDomain: 'cluster.local',
  namespace: 'istio-system',
  serviceAccount: 'istiod',
};
const readers = (...names: string[]) => {
  const read = readConfigReaders(names);
  if ('wrong' in read) throw new Error(read.wrong);
  return read;
};

describe('the resources of Istio', () => {
  it('are for nobody by default', () => {
    expect(haveReaders(noReaders)).toBe(false);
    expect(readers()).toEqual(noReaders);
    expect(configAccess(noReaders, undefined)).toMatch(/in plain text/);
    expect(configAccess(noReaders, caller)).toBe(
      'the caller is spiffe://cluster.local/ns/istio-system/sa/istiod, and --configReaders does not have istio-system/istiod',
    );
  });

  it('are for the accounts that are named, on the secure port only', () => {
    const named = readers('istio-system/istiod', 'edge/istiod');
    expect(haveReaders(named)).toBe(true);
    expect(configAccess(named, caller)).toBeUndefined();
    expect(configAccess(named, { ...caller, namespace: 'edge' })).toBeUndefined();
    expect(configAccess(named, { ...caller, namespace: 'shop' })).toMatch(/shop\/istiod$/);
    expect(configAccess(named, { ...caller, serviceAccount: 'app' })).toMatch(/system\/app$/);
    expect(configAccess(named, undefined)).toMatch(/plaintext$/);
  });

  it('are for anyone in plain text if that is named, and for no account then', () => {
    const named = readers('plaintext');
    expect(haveReaders(named)).toBe(true);
    expect(configAccess(named, undefined)).toBeUndefined();
    expect(configAccess(named, caller)).toMatch(/--configReaders does not have/);
  });

  it.each(['istiod', 'a/b/c', 'A/b', '/b', 'a/', '*', 'a/*', 'plaintext/'])(
    'are for nobody if a name is wrong: %s',
    (wrong) => {
      expect(readConfigReaders(['plaintext', wrong])).toEqual({ wrong });
    },
  );
});
