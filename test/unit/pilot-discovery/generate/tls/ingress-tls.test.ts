import { describe, expect, it } from 'vitest';
import { inboundListeners } from '../../../../../src/pilot-discovery/generate/listeners/inbound-listeners.ts';
import type { ProxyNode } from '../../../../../src/pilot-discovery/generate/scope/proxy-node.ts';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { typeUrls } from '../../../../../src/pilot-discovery/push/view.ts';
import { published } from '../../../../support/envoy-api.ts';
import { environmentOf, proxyAt } from '../../../../support/generated.ts';

const files = 'serverCertificate: /c/cert.pem, privateKey: /c/key.pem';

const sidecar = (tls: string, protocol = 'HTTPS') => `
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: app, namespace: default }
spec:
  ingress:
    - { port: { number: 8443, name: tls, protocol: ${protocol} }, defaultEndpoint: "127.0.0.1:8080", tls: ${tls} }
    - { port: { number: 9080, name: http, protocol: HTTP }, defaultEndpoint: "127.0.0.1:8081" }
`;
const peers = (mode: string) => `---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: app, namespace: default }
spec: { mtls: { mode: ${mode} } }
`;

interface Chain {
  readonly filter_chain_match?: {
    readonly destination_port?: { readonly value: number };
    readonly transport_protocol?: string;
  };
  readonly transport_socket?: unknown;
  readonly filters: readonly { readonly typed_config: { readonly cluster?: string } }[];
}

/** Returns each chain for a port: `closed`, or its transport and whose certificate ends TLS. */
function chainsOf(
  yaml: string,
  port: number,
  interception: ProxyNode['interception'] = 'redirect',
): readonly string[] {
  const listeners = inboundListeners(environmentOf(yaml), proxyAt({ interception }));
  const chains = listeners.flatMap(
    ({ body }) =>
      (published(typeUrls.listener, body) as { readonly filter_chains: readonly Chain[] })
        .filter_chains,
  );
  return chains
    .filter((chain) => chain.filter_chain_match?.destination_port?.value === port)
    .map(({ filter_chain_match: match, transport_socket: socket, filters }) => {
      if (filters[0]?.typed_config.cluster === 'BlackHoleCluster') return 'closed';
      const hasOwnCertificate = JSON.stringify(socket ?? '').includes('file-cert:');
      return `${match?.transport_protocol ?? 'any'}: ${socket === undefined ? 'passed' : hasOwnCertificate ? 'own' : 'mesh'}`;
    });
}

describe.each(['redirect', 'none'] as const)(
  'a port of a Sidecar with TLS, interception %s',
  (interception) => {
    it.each([
      ['DISABLE', ['tls: own']],
      ['PERMISSIVE', ['tls: mesh', 'tls: own']],
      ['STRICT', ['tls: mesh']],
    ])('lets no plain text through with %s', (mode, chains) => {
      expect(
        chainsOf(sidecar(`{ mode: SIMPLE, ${files} }`) + peers(mode), 8443, interception),
      ).toEqual(chains);
    });

    it.each([
      [
        'keys of clients',
        `{ mode: MUTUAL, ${files}, caCertificates: /c/ca.pem, verifyCertificateSpki: [YQ==] }`,
      ],
      [
        'names of clients',
        `{ mode: MUTUAL, ${files}, caCertificates: /c/ca.pem, subjectAltNames: [a] }`,
      ],
      ['a secret by name', '{ mode: SIMPLE, credentialName: a }'],
      ['a mode of gateways', `{ mode: AUTO_PASSTHROUGH, ${files} }`],
      ['no mode', `{ ${files} }`],
      ['no key', '{ mode: SIMPLE, serverCertificate: /c/cert.pem }'],
      ['no roots', `{ mode: MUTUAL, ${files} }`],
      ['a field of a newer version', `{ mode: SIMPLE, ${files}, clientsOnlyFrom: [a] }`],
      ['something that is not an object', 'true'],
      [
        'a hash that is none',
        `{ mode: MUTUAL, ${files}, caCertificates: /c/ca.pem, verifyCertificateHash: [a] }`,
      ],
      [
        'versions the wrong way round',
        `{ mode: SIMPLE, ${files}, minProtocolVersion: TLSV1_3, maxProtocolVersion: TLSV1_2 }`,
      ],
    ])('is closed with %s, which is told, and the other port is served', (_, tls) => {
      const { resources, flaws } = readResources(sidecar(tls), {
        source: 'files',
        path: 'a.yaml',
        defaultNamespace: 'default',
      });
      expect(resources).toHaveLength(1);
      expect(
        flaws.every(
          ({ severity, reason }) =>
            severity === 'warning' && reason.endsWith('; connections to this port are refused'),
        ),
      ).toBe(true);
      expect(flaws).not.toEqual([]);
      expect(chainsOf(sidecar(tls), 8443, interception)).toEqual(['closed']);
      expect(chainsOf(sidecar(tls), 9080, interception)).toEqual([
        'tls: mesh',
        'raw_buffer: passed',
      ]);
    });

    it('is closed if its protocol has no TLS', () => {
      expect(chainsOf(sidecar(`{ mode: SIMPLE, ${files} }`, 'HTTP'), 8443, interception)).toEqual([
        'closed',
      ]);
    });
  },
);
