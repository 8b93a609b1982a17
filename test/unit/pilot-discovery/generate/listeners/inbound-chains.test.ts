import { describe, expect, it } from 'vitest';
import {
  inboundChains,
  type InboundPort,
} from '../../../../../src/pilot-discovery/generate/listeners/inbound-chains.ts';
import { ListenerSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_pb.ts';
import {
  canonical,
  meshIn,
  messageYaml,
  noReporting,
  proxyIn,
  shortFilters,
  specIn,
} from '../../../../support/golden.ts';

const port: InboundPort = {
  httpName: '0.0.0.0_8080',
  tcpName: '0.0.0.0_8080',
  port: 8080,
  protocol: 'http',
  mode: 'permissive',
  tls: undefined,
  cluster: 'inbound|8080||',
  statPrefix: 'inbound_0.0.0.0_8080;',
  host: 'a.mesh',
  servicePort: 80,
  config: '',
};

const chainsOf = (more: Partial<InboundPort>): string =>
  messageYaml(
    ListenerSchema,
    {
      filterChains: inboundChains(meshIn(''), proxyIn(''), { http: [], tcp: [] }, noReporting, {
        ...port,
        ...more,
      }),
    },
    shortFilters,
  );

const meshHttp = 'istio-http/1.0, istio-http/1.1, istio-h2';
const meshTcp = 'istio-peer-exchange, istio';
const meshAny = `istio, istio-peer-exchange, ${meshHttp}`;
const plainHttp = 'http/1.1, h2c';
const [http, tcp] = ['HTTP to inbound|8080||', 'TCP to inbound|8080||'];
const ofMesh = 'transport_socket: TLS of the mesh';

const chain = (transport: 'tls' | 'raw_buffer', names: string, way: string, socket = '') => `
  - name: 0.0.0.0_8080
    filter_chain_match:
      destination_port: 8080
      transport_protocol: ${transport}
      ${names === '' ? '' : `application_protocols: [${names}]`}
    filters: ["${way}"]
    ${socket}`;

describe('the chains of a port by its protocol and its mode', () => {
  it.each<[protocol: InboundPort['protocol'], mode: InboundPort['mode'], chains: string]>([
    ['http', 'strict', chain('tls', '', http, ofMesh)],
    ['http', 'disable', chain('raw_buffer', '', http)],
    ['http', 'permissive', chain('tls', meshAny, http, ofMesh) + chain('raw_buffer', '', http)],
    ['grpc', 'permissive', chain('tls', meshAny, http, ofMesh) + chain('raw_buffer', '', http)],
    ['tcp', 'strict', chain('tls', '', tcp, ofMesh)],
    ['tcp', 'disable', chain('raw_buffer', '', tcp)],
    [
      'tcp',
      'permissive',
      chain('tls', meshAny, tcp, ofMesh) + chain('tls', '', tcp) + chain('raw_buffer', '', tcp),
    ],
    ['auto', 'strict', chain('tls', meshHttp, http, ofMesh) + chain('tls', '', tcp, ofMesh)],
    ['auto', 'disable', chain('raw_buffer', plainHttp, http) + chain('raw_buffer', '', tcp)],
    [
      'auto',
      'permissive',
      chain('tls', meshHttp, http, ofMesh) +
        chain('raw_buffer', plainHttp, http) +
        chain('tls', meshTcp, tcp, ofMesh) +
        chain('raw_buffer', '', tcp) +
        chain('tls', '', tcp),
    ],
  ])('%s, %s', (protocol, mode, chains) => {
    expect(chainsOf({ protocol, mode })).toBe(canonical(`filter_chains:${chains}`));
  });

  it('are one that leads nowhere if the port is closed', () => {
    expect(chainsOf({ mode: 'closed' })).toBe(
      canonical(`
filter_chains:
  - name: 0.0.0.0_8080
    filter_chain_match: { destination_port: 8080 }
    filters: [TCP to BlackHoleCluster]`),
    );
  });

  it('are for all other ports without a port', () => {
    expect(chainsOf({ port: undefined, mode: 'strict' })).toBe(
      canonical(`
filter_chains:
  - name: 0.0.0.0_8080
    filter_chain_match: { transport_protocol: tls }
    filters: ["${http}"]
    ${ofMesh}`),
    );
  });

  it('have two names, and say where the port is from', () => {
    const config = '/apis/networking.istio.io/v1/namespaces/default/sidecar/s';
    expect(
      chainsOf({ protocol: 'auto', mode: 'disable', httpName: 'h', tcpName: 't', config }),
    ).toBe(
      canonical(`
filter_chains:
  - name: h
    filter_chain_match: { destination_port: 8080, transport_protocol: raw_buffer, application_protocols: [${plainHttp}] }
    filters: ["${http}"]
    metadata: { filter_metadata: { istio: { config: ${config} } } }
  - name: t
    filter_chain_match: { destination_port: 8080, transport_protocol: raw_buffer }
    filters: ["${tcp}"]
    metadata: { filter_metadata: { istio: { config: ${config} } } }`),
    );
  });
});

describe('the chains of a port of a Sidecar with TLS', () => {
  const [ingress] = specIn(
    'Sidecar',
    '{ ingress: [{ port: { number: 8080, name: tls, protocol: HTTPS }, defaultEndpoint: "127.0.0.1:80", tls: { mode: SIMPLE, serverCertificate: /c.pem, privateKey: /k.pem } }] }',
  ).ingress;
  const tls = ingress?.tls === 'closed' ? undefined : ingress?.tls;
  const ownTls = 'transport_socket: TLS of its own';

  it.each<[protocol: InboundPort['protocol'], mode: InboundPort['mode'], chains: string]>([
    ['https', 'disable', chain('tls', '', http, ownTls)],
    ['https', 'strict', chain('tls', '', http, ofMesh)],
    ['https', 'permissive', chain('tls', meshAny, http, ofMesh) + chain('tls', '', http, ownTls)],
    ['tls', 'disable', chain('tls', '', tcp, ownTls)],
    ['tls', 'permissive', chain('tls', meshAny, tcp, ofMesh) + chain('tls', '', tcp, ownTls)],
  ])('%s, %s: no plain text', (protocol, mode, chains) => {
    expect(tls).toBeDefined();
    expect(chainsOf({ protocol, mode, tls })).toBe(canonical(`filter_chains:${chains}`));
  });
});
