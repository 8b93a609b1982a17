import { describe, expect, it } from 'vitest';
import {
  spiffeId,
  trustDomain,
  type TrustDomainInputs,
} from '../../../../src/pilot-agent/bootstrap/control-plane-identity.ts';
const pilot = 'istio-pilot-service-account';
const domainOf = (inputs: Partial<TrustDomainInputs>) =>
  trustDomain({ given: '', registry: 'Kubernetes', domain: '', podNamespace: '', ...inputs });

describe('spiffeId', () => {
  it.each<{
    what: string;
    inputs: Partial<TrustDomainInputs>;
    namespace?: string;
    identity?: string;
    id: string;
  }>([
    {
      what: 'no domain in Kubernetes',
      inputs: {},
      id: `spiffe://cluster.local/ns/anything/sa/${pilot}`,
    },
    {
      what: 'a domain in Kubernetes',
      inputs: { domain: 'my.domain' },
      id: `spiffe://my.domain/ns/anything/sa/${pilot}`,
    },
    {
      what: 'no domain in Consul',
      inputs: { registry: 'Consul' },
      id: `spiffe:///ns/anything/sa/${pilot}`,
    },
    {
      what: 'a trust domain',
      inputs: { given: 'secured' },
      id: `spiffe://secured/ns/anything/sa/${pilot}`,
    },
    {
      what: 'a trust domain and a domain',
      inputs: { given: 'secured', domain: 'my.domain' },
      id: `spiffe://secured/ns/anything/sa/${pilot}`,
    },
    {
      what: 'the default domain of no namespace in Kubernetes',
      inputs: { domain: '.svc.cluster.local' },
      id: `spiffe://cluster.local/ns/anything/sa/${pilot}`,
    },
    {
      what: 'the default domain in Consul',
      inputs: { registry: 'Consul', domain: 'service.consul' },
      id: `spiffe:///ns/anything/sa/${pilot}`,
    },
    {
      what: 'an identity without a trust domain',
      inputs: {},
      namespace: '',
      identity: 'pilot-identity',
      id: 'spiffe://cluster.local/pilot-identity',
    },
    {
      what: 'an identity with a trust domain',
      inputs: { given: 'mesh.com' },
      namespace: '',
      identity: 'pilot-identity',
      id: 'spiffe://mesh.com/pilot-identity',
    },
    {
      what: 'an identity of Mixer',
      inputs: { given: 'mesh.com' },
      namespace: '',
      identity: 'mixer-identity',
      id: 'spiffe://mesh.com/mixer-identity',
    },
    {
      what: 'an account of a namespace',
      inputs: {},
      namespace: 'namespace-foo',
      identity: 'service-bar',
      id: 'spiffe://cluster.local/ns/namespace-foo/sa/service-bar',
    },
    {
      what: 'a trust domain of Google Cloud',
      inputs: { given: 'kube-federating-id@testproj.iam.gserviceaccount.com' },
      namespace: 'foo',
      identity: 'bar',
      id: 'spiffe://kube-federating-id.testproj.iam.gserviceaccount.com/ns/foo/sa/bar',
    },
    {
      what: 'none of half a name (the Go agent: an error, or spiffe://cluster.local/ns//sa/)',
      inputs: {},
      namespace: 'foo',
      identity: '',
      id: '',
    },
    {
      what: 'an identity',
      inputs: { given: 'mesh.com' },
      namespace: '',
      identity: 'foo',
      id: 'spiffe://mesh.com/foo',
    },
    {
      what: 'none without an identity',
      inputs: { given: 'mesh.com' },
      namespace: '',
      identity: '',
      id: '',
    },
  ])('is made of $what', ({ inputs, namespace = 'anything', identity = pilot, id }) => {
    expect(spiffeId(domainOf(inputs), { namespace, identity })).toBe(id);
  });
});

describe('trustDomain', () => {
  it.each<{ what: string; inputs: Partial<TrustDomainInputs>; expected: string }>([
    { what: 'as it is given', inputs: { given: 'test.local' }, expected: 'test.local' },
    { what: 'with dots for each @', inputs: { given: 'a@test@local' }, expected: 'a.test.local' },
    {
      what: 'cluster.local for the default domain of a namespace',
      inputs: { domain: 'ns.svc.cluster.local', podNamespace: 'ns' },
      expected: 'cluster.local',
    },
    {
      what: 'the domain, if it is the default one of another namespace',
      inputs: { domain: 'other.svc.cluster.local', podNamespace: 'ns' },
      expected: 'other.svc.cluster.local',
    },
    {
      what: 'the domain in Consul',
      inputs: { registry: 'Consul', domain: 'my@domain' },
      expected: 'my.domain',
    },
    {
      what: 'the domain elsewhere',
      inputs: { registry: 'Mock', domain: 'my.domain' },
      expected: 'my.domain',
    },
    { what: 'empty elsewhere, without a domain', inputs: { registry: 'Mock' }, expected: '' },
    {
      what: 'no member of every object',
      inputs: { registry: 'constructor', domain: 'my.domain' },
      expected: 'my.domain',
    },
  ])('is $what', ({ inputs, expected }) => {
    expect(domainOf(inputs)).toBe(expected);
  });
});
