import { describe, expect, it } from 'vitest';
import {
  type ControlPlane,
  controlPlaneNamespace,
  controlPlaneSans,
  mixerSan,
} from '../../../../src/pilot-agent/bootstrap/control-plane-identity.ts';
const plane = (inputs: Partial<ControlPlane>): ControlPlane => ({
  controlPlaneAuthPolicy: 'MUTUAL_TLS',
  discoveryAddress: 'istiod.istio-system.svc:15012',
  registry: 'Kubernetes',
  podNamespace: 'pod-ns',
  istioNamespace: '',
  trustDomain: 'cluster.local',
  ...inputs,
});
const uri = (value: string) => ({ type: 'URI', value });
const dns = (value: string) => ({ type: 'DNS', value });

describe('controlPlaneNamespace', () => {
  it.each<{ what: string; inputs: Partial<ControlPlane>; namespace: string }>([
    {
      what: 'one name: that of the pod',
      inputs: { discoveryAddress: 'istio-pilot:15010' },
      namespace: 'pod-ns',
    },
    {
      what: 'two names: the second',
      inputs: { discoveryAddress: 'istio-pilot.mesh:15010' },
      namespace: 'mesh',
    },
    {
      what: 'three names: istio-system',
      inputs: { discoveryAddress: 'istiod.mesh.svc:15012' },
      namespace: 'istio-system',
    },
    { what: 'three names: ISTIO_NAMESPACE', inputs: { istioNamespace: 'mesh' }, namespace: 'mesh' },
    {
      what: 'two names and the dot of a full name',
      inputs: { discoveryAddress: 'istiod.mesh.:15012' },
      namespace: 'mesh',
    },
    {
      what: 'an IPv4 address',
      inputs: { discoveryAddress: '10.0.0.1:15010' },
      namespace: 'istio-system',
    },
    {
      what: 'an IPv6 address (the Go agent: that of the pod)',
      inputs: { discoveryAddress: '[2001:db8::1]:15010' },
      namespace: 'istio-system',
    },
    {
      what: 'no Kubernetes',
      inputs: { registry: 'Consul', discoveryAddress: 'istio-pilot.mesh:15010' },
      namespace: '',
    },
  ])('of $what', ({ inputs, namespace }) => {
    expect(controlPlaneNamespace(plane(inputs))).toBe(namespace);
  });
});

describe('controlPlaneSans', () => {
  const account = 'spiffe://cluster.local/ns/istio-system/sa/istio-pilot-service-account';

  it.each<{
    what: string;
    inputs: Partial<ControlPlane>;
    identity?: string;
    sans: readonly object[];
  }>([
    {
      what: 'the host and the account of pilot: either is a control plane',
      inputs: {},
      sans: [dns('istiod.istio-system.svc'), uri(account)],
    },
    {
      what: 'none without TLS',
      inputs: { controlPlaneAuthPolicy: 'NONE' },
      identity: 'pilot-identity',
      sans: [],
    },
    {
      what: 'an identity of its own',
      inputs: { trustDomain: 'mesh.com' },
      identity: 'pilot-identity',
      sans: [dns('istiod.istio-system.svc'), uri('spiffe://mesh.com/pilot-identity')],
    },
    {
      what: 'the name of istiod behind localhost',
      inputs: { discoveryAddress: 'localhost:15012' },
      sans: [
        dns('istiod.istio-system.svc'),
        uri('spiffe://cluster.local/ns/pod-ns/sa/istio-pilot-service-account'),
      ],
    },
    {
      what: 'a full name without its last dot, as certificates have it',
      inputs: { discoveryAddress: 'istiod.mesh.svc.cluster.local.:15012' },
      sans: [dns('istiod.mesh.svc.cluster.local'), uri(account)],
    },
    {
      what: 'no name for an IPv4 address',
      inputs: { discoveryAddress: '10.0.0.1:15012' },
      sans: [uri(account)],
    },
    {
      what: 'no name for an IPv6 address',
      inputs: { discoveryAddress: '[2001:db8::1]:15012' },
      sans: [uri(account)],
    },
    {
      what: 'the identity of the account as it is outside of Kubernetes',
      inputs: { registry: 'Consul', trustDomain: '', discoveryAddress: 'istio-pilot:15010' },
      sans: [dns('istio-pilot'), uri('spiffe:///istio-pilot-service-account')],
    },
  ])('are $what', ({ inputs, identity = '', sans }) => {
    expect(controlPlaneSans(plane(inputs), identity)).toEqual(sans);
  });
});

describe('mixerSan', () => {
  it.each<{
    what: string;
    inputs: Partial<ControlPlane>;
    identity?: string;
    sans: readonly object[];
  }>([
    {
      what: 'its account',
      inputs: {},
      sans: [uri('spiffe://cluster.local/ns/istio-system/sa/istio-mixer-service-account')],
    },
    {
      what: 'an identity of its own',
      inputs: { trustDomain: 'mesh.com' },
      identity: 'mixer-identity',
      sans: [uri('spiffe://mesh.com/mixer-identity')],
    },
    { what: 'none without TLS', inputs: { controlPlaneAuthPolicy: 'NONE' }, sans: [] },
  ])('is $what', ({ inputs, identity = '', sans }) => {
    expect(mixerSan(plane(inputs), identity)).toEqual(sans);
  });
});
