import { describe, expect, it } from 'vitest';
import { nodeLocality, nodeString } from '../../../../src/pilot-agent/bootstrap/node-id.ts';
const platform = { region: 'platform-region', zone: 'platform-zone', subZone: '' };

describe('nodeLocality', () => {
  it.each<{ label: string | undefined; locality: readonly [string, string, string] }>([
    { label: 'region', locality: ['region', '', ''] },
    { label: 'region/zone', locality: ['region', 'zone', ''] },
    { label: 'region/zone/subzone', locality: ['region', 'zone', 'subzone'] },
    { label: 'region/zone/subzone/more', locality: ['region', 'zone', 'subzone'] },
    { label: 'region.zone.subzone', locality: ['region', 'zone', 'subzone'] },
    { label: 'us-east.1/zone.a', locality: ['us-east.1', 'zone.a', ''] },
    { label: '/zone', locality: ['', 'zone', ''] },
    { label: '', locality: ['platform-region', 'platform-zone', ''] },
    { label: undefined, locality: ['platform-region', 'platform-zone', ''] },
  ])('of the label $label', ({ label, locality: [region, zone, subZone] }) => {
    const labels: Record<string, string> =
      label === undefined ? { app: 'x' } : { app: 'x', 'istio-locality': label };
    expect(nodeLocality(labels, platform)).toEqual({ region, zone, subZone });
  });
});

describe('nodeString', () => {
  it('is role, address, id and domain, with a tilde between them', () => {
    const node = { ip: '10.1.2.3', id: 'mypod.myns', domain: 'myns.svc.cluster.local' };
    expect(nodeString('sidecar', node)).toBe('sidecar~10.1.2.3~mypod.myns~myns.svc.cluster.local');
    expect(nodeString('router', { ip: '::1', id: '.', domain: '' })).toBe('router~::1~.~');
  });
});
