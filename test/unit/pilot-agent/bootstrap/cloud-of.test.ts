import { describe, expect, it } from 'vitest';
import { cloudOf, type MachineSigns } from '../../../../src/pilot-agent/bootstrap/cloud.ts';

const none: MachineSigns = {
  productName: '',
  vendor: '',
  productVersion: '',
  productUuid: '',
  hypervisorUuid: '',
};

describe('cloudOf', () => {
  it.each<{ what: string; signs: Partial<MachineSigns>; cloud: 'google' | 'amazon' | undefined }>([
    { what: 'no sign', signs: {}, cloud: undefined },
    { what: "Google's product", signs: { productName: 'Google Compute Engine' }, cloud: 'google' },
    { what: 'Google for a vendor', signs: { vendor: 'Google' }, cloud: 'google' },
    {
      what: 'a hypervisor of EC2',
      signs: { hypervisorUuid: 'ec2e1916-9099-7caf-fd21-012345abcdef' },
      cloud: 'amazon',
    },
    {
      what: 'a product of EC2, in capitals',
      signs: { productUuid: 'EC2E1916-9099-7CAF-FD21-012345ABCDEF' },
      cloud: 'amazon',
    },
    { what: 'a version of Amazon', signs: { productVersion: '4.11.amazon' }, cloud: 'amazon' },
    { what: 'Amazon for a vendor', signs: { vendor: 'Amazon EC2' }, cloud: 'amazon' },
    {
      what: 'ec2 within a uuid',
      signs: { productUuid: '1916ec2e-9099-7caf-fd21-012345abcdef' },
      cloud: undefined,
    },
    {
      what: 'another vendor',
      signs: { productName: 'Standard PC (Q35)', vendor: 'QEMU', productVersion: 'pc-q35-7.2' },
      cloud: undefined,
    },
  ])('$what: $cloud', ({ signs, cloud }) => {
    expect(cloudOf({ ...none, ...signs })).toBe(cloud);
  });
});
