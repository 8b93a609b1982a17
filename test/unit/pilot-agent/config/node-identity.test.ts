import { describe, expect, it } from 'vitest';
import { environment } from '../../../../src/pilot-agent/config/environment.ts';
import {
  type NodeIdentity,
  nodeIdentity,
  type NodeInputs,
} from '../../../../src/pilot-agent/config/node-identity.ts';

const pod = { POD_NAME: 'mypod', POD_NAMESPACE: 'myns' };
interface Given extends Partial<NodeInputs> {
  readonly env?: NodeJS.ProcessEnv;
}
const identify = ({ env = {}, ...inputs }: Given): NodeIdentity =>
  nodeIdentity({
    ...environment(env).values,
    ip: '',
    id: '',
    domain: '',
    registry: 'Kubernetes',
    addresses: ['10.1.2.3'],
    ...inputs,
  });

describe('nodeIdentity', () => {
  it.each<{ what: string; registry: string; domain: string; expected: string }>([
    {
      what: 'Kubernetes',
      registry: 'Kubernetes',
      domain: '',
      expected: 'default.svc.cluster.local',
    },
    { what: 'Consul', registry: 'Consul', domain: '', expected: 'service.consul' },
    { what: 'Mock', registry: 'Mock', domain: '', expected: '' },
    { what: 'Mock with a domain', registry: 'Mock', domain: 'my.domain', expected: 'my.domain' },
    {
      what: 'Kubernetes with a domain',
      registry: 'Kubernetes',
      domain: 'my.domain',
      expected: 'my.domain',
    },
    {
      what: 'a registry that is called like what every object has',
      registry: 'constructor',
      domain: '',
      expected: '',
    },
  ])('has the domain of $what', ({ registry, domain, expected }) => {
    expect(identify({ registry, domain, env: { POD_NAMESPACE: 'default' } }).domain).toBe(expected);
  });

  it.each<{ what: string; inputs: Given; id: string }>([
    { what: 'is pod.namespace in Kubernetes', inputs: { env: pod }, id: 'mypod.myns' },
    { what: 'is a dot without a pod', inputs: {}, id: '.' },
    {
      what: 'is named by its address in Consul',
      inputs: { registry: 'Consul', env: pod },
      id: '10.1.2.3.service.consul',
    },
    { what: 'is its address elsewhere', inputs: { registry: 'Mock', env: pod }, id: '10.1.2.3' },
    { what: 'is what is given', inputs: { id: 'given', env: pod }, id: 'given' },
    {
      what: 'is named by the address that is given',
      inputs: { registry: 'Consul', ip: '1.1.1.1' },
      id: '1.1.1.1.service.consul',
    },
    {
      what: 'does not hang on the domain',
      inputs: { registry: 'Consul', domain: 'my.domain' },
      id: '10.1.2.3.service.consul',
    },
  ])('$what', ({ inputs, id }) => {
    expect(identify(inputs).id).toBe(id);
  });

  it.each<{ what: string; inputs: Given; ip: string }>([
    {
      what: 'is the first of the machine',
      inputs: { addresses: ['10.0.0.2', '10.0.0.1'] },
      ip: '10.0.0.2',
    },
    { what: 'is INSTANCE_IP rather', inputs: { env: { INSTANCE_IP: '10.9.9.9' } }, ip: '10.9.9.9' },
    {
      what: 'is an IPv6 INSTANCE_IP',
      inputs: { env: { INSTANCE_IP: '2001:db8::9' } },
      ip: '2001:db8::9',
    },
    {
      what: 'is not an INSTANCE_IP that is not an address',
      inputs: { env: { INSTANCE_IP: 'nonsense' } },
      ip: '10.1.2.3',
    },
    { what: 'is not an empty INSTANCE_IP', inputs: { env: { INSTANCE_IP: '' } }, ip: '10.1.2.3' },
    {
      what: 'is --ip before all',
      inputs: { ip: '1.1.1.1', env: { INSTANCE_IP: '10.9.9.9' } },
      ip: '1.1.1.1',
    },
    { what: 'is --ip as it is, whatever it is', inputs: { ip: 'nonsense' }, ip: 'nonsense' },
    {
      what: 'is the loopback on a machine without a network',
      inputs: { addresses: [] },
      ip: '127.0.0.1',
    },
    {
      what: 'is not an IPv6 link-local address (the Go agent: it is)',
      inputs: { addresses: ['fe80::1', 'FE80::2', '10.0.0.1'] },
      ip: '10.0.0.1',
    },
    {
      what: 'is not an IPv4 link-local address (the Go agent: it is)',
      inputs: { addresses: ['169.254.1.1', '10.0.0.1'] },
      ip: '10.0.0.1',
    },
    {
      what: 'is the loopback where only link-local addresses are',
      inputs: { addresses: ['fe80::1', '169.254.1.1'] },
      ip: '127.0.0.1',
    },
  ])('$what', ({ inputs, ip }) => {
    expect(identify(inputs).ip).toBe(ip);
  });

  it.each<{ what: string; inputs: Given; addresses: readonly string[] }>([
    {
      what: 'those of the machine, in their order',
      inputs: { addresses: ['10.0.0.2', '10.0.0.1'] },
      addresses: ['10.0.0.2', '10.0.0.1'],
    },
    {
      what: 'the one that is given first',
      inputs: { ip: '1.1.1.1', addresses: ['10.0.0.1'] },
      addresses: ['1.1.1.1', '10.0.0.1'],
    },
    {
      what: 'INSTANCE_IP once, though the machine has it too (the Go agent 1.5: twice)',
      inputs: { env: { INSTANCE_IP: '10.0.0.1' }, addresses: ['10.0.0.2', '10.0.0.1', '10.0.0.2'] },
      addresses: ['10.0.0.1', '10.0.0.2'],
    },
    {
      what: 'the loopbacks without a network',
      inputs: { addresses: [] },
      addresses: ['127.0.0.1', '::1'],
    },
    {
      what: 'the given one alone without a network',
      inputs: { ip: '1.1.1.1', addresses: [] },
      addresses: ['1.1.1.1'],
    },
    {
      what: 'no link-local ones (the Go agent: them too)',
      inputs: { addresses: ['fe80::1', '10.0.0.1'] },
      addresses: ['10.0.0.1'],
    },
    {
      what: 'a link-local one that is given',
      inputs: { ip: 'fe80::1', addresses: ['fe80::1', '10.0.0.1'] },
      addresses: ['fe80::1', '10.0.0.1'],
    },
  ])('has for its addresses $what', ({ inputs, addresses }) => {
    expect(identify(inputs).addresses).toEqual(addresses);
  });

  it.each<{ what: string; inputs: Given; ipv6: boolean }>([
    { what: 'IPv4 only', inputs: { addresses: ['1.1.1.1', '127.0.0.1', '2.2.2.2'] }, ipv6: false },
    {
      what: 'IPv6 only',
      inputs: { addresses: ['1111:2222::1', '::1', '2222:3333::1'] },
      ipv6: true,
    },
    {
      what: 'both',
      inputs: { addresses: ['1111:2222::1', '::1', '127.0.0.1', '2.2.2.2', '2222:3333::1'] },
      ipv6: false,
    },
    {
      what: 'an IPv6 pod on a machine with IPv4',
      inputs: { ip: '1111:2222::1', addresses: ['10.0.0.1'] },
      ipv6: false,
    },
    {
      what: 'an IPv6 machine with an IPv4 link-local address',
      inputs: { addresses: ['1111:2222::1', '169.254.1.1'] },
      ipv6: true,
    },
    { what: 'no network', inputs: { addresses: [] }, ipv6: false },
    {
      what: 'an --ip that is not an address, on an IPv6 machine',
      inputs: { ip: 'nonsense', addresses: ['1111:2222::1'] },
      ipv6: true,
    },
  ])('is an IPv6 node ($ipv6): $what', ({ inputs, ipv6 }) => {
    expect(identify(inputs).ipv6).toBe(ipv6);
  });
});
