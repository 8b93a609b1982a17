import { describe, expect, it } from 'vitest';
import { readMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';

const read = (source: string) => readMeshConfig(`configSources: [${source}]`, 'mesh.yaml');

describe('configSources of a MeshConfig', () => {
  it('has folders and control planes', () => {
    const { folders, servers, flaws } = readMeshConfig(
      'configSources: [{ address: fs:///etc/mesh }, { address: "xds://istiod:15010" }]',
      'mesh.yaml',
    );
    expect(flaws).toEqual([]);
    expect(folders).toEqual(['/etc/mesh']);
    expect(servers).toMatchObject([{ namespaces: [], tokenFile: '', tls: undefined }]);
  });

  it('has the options and the TLS of a control plane', () => {
    const { servers, flaws } = read(`{
      address: "xds://istiod:15012?namespaces=shop,bank&tokenFile=/token",
      tlsSettings: { mode: MUTUAL, caCertificates: /root, clientCertificate: /chain,
        privateKey: /key, sni: istiod.example, subjectAltNames: [a, b] },
    }`);
    expect(flaws).toEqual([]);
    expect(servers).toEqual([
      {
        address: 'istiod:15012',
        namespaces: ['shop', 'bank'],
        tokenFile: '/token',
        tls: {
          roots: '/root',
          pair: { chain: '/chain', key: '/key' },
          sni: 'istiod.example',
          names: ['a', 'b'],
        },
      },
    ]);
  });

  it.each([
    ['{ address: "xds://istiod" }', 'error', /is not xds:\/\/HOST:PORT/],
    ['{ address: "xds://a:1/b" }', 'error', /is not xds:\/\/HOST:PORT/],
    ['{ address: "xds://a:1?name=b" }', 'error', /'name' is not an option/],
    ['{ address: "xds://a:1?namespaces=a.b" }', 'error', /'a.b' is not a list/],
    ['{ address: "xds://a:1?tokenFile=/t" }', 'error', /not sent in plain text/],
    ['{ address: "xds://a:1", tlsSettings: { mode: MUTUAL } }', 'error', /MUTUAL needs/],
    ['{ address: "xds://a:1", tlsSettings: { insecureSkipVerify: true } }', 'error', /verified/],
    ['{ address: "xds://a:1", tlsSettings: { credentialName: a } }', 'error', /from a Secret/],
    ['{ address: "k8s://" }', 'warning', /is not read: only/],
  ])('has a flaw: %s', (source, severity, reason) => {
    const { flaws } = read(source);
    expect(flaws.find((flaw) => flaw.severity === severity)?.reason).toMatch(reason);
  });
});
