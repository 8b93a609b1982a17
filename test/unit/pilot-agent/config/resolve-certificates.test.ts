import { describe, expect, it } from 'vitest';
import { accepted, configOf } from '../../../support/resolved.ts';

const ownFiles = {
  chain: '/etc/certs/cert-chain.pem',
  key: '/etc/certs/key.pem',
  root: '/etc/certs/root-cert.pem',
};
const all = (files: Readonly<Record<string, string>>) => Object.values(files);
const service = (tlsSettings: object, address = 'metrics:1') => ({
  envoyMetricsService: { address, tlsSettings },
});
const mutual = { mode: 'MUTUAL', clientCertificate: '/m/chain', privateKey: '/m/key' };

describe('the own certificates', () => {
  it('have their paths from the environment, the default for what is missing', () => {
    const env = {
      ISTIO_META_TLS_SERVER_CERT_CHAIN: '/s/chain',
      ISTIO_META_TLS_SERVER_KEY: '/s/key',
      ISTIO_META_TLS_SERVER_ROOT_CERT: '/s/root',
      ISTIO_META_TLS_CLIENT_KEY: '/c/key',
    };
    const { config, sources } = accepted({ env });
    expect(config.certificates).toEqual([
      { chain: '/s/chain', key: '/s/key', root: '/s/root' },
      { ...ownFiles, key: '/c/key' },
    ]);
    expect(sources.certificates).toBe(
      Object.keys(env)
        .map((name) => `$${name}`)
        .join(', '),
    );
  });

  it('are watched once each, however often they are named', () => {
    expect(configOf().certificates).toEqual([ownFiles]);
    expect(configOf().watched).toEqual(all(ownFiles));
  });

  it('an empty path is none, as in 1.1', () => {
    const env = { ISTIO_META_TLS_SERVER_KEY: '' };
    expect(configOf({ env })).toEqual({ ...configOf(), metadataVariables: env });
    expect(
      configOf({ env: { ISTIO_META_TLS_SERVER_KEY: '/non-default' } }).certificates[0]?.key,
    ).toBe('/non-default');
  });

  it('are waited for only if a variable names them', () => {
    expect(configOf().awaited).toEqual([]);
    expect(
      configOf({
        env: { ISTIO_META_TLS_SERVER_KEY: '/s/key', ISTIO_META_TLS_CLIENT_KEY: '/s/key' },
      }).awaited,
    ).toEqual(['/s/key']);
  });
});

describe('the control plane', () => {
  it('with MUTUAL_TLS waits for the client’s three files', () => {
    expect(configOf({ given: { controlPlaneAuthPolicy: 'MUTUAL_TLS' } })).toMatchObject({
      awaited: all(ownFiles),
      controlPlaneTls: ownFiles,
    });
    const env = { ISTIO_META_TLS_CLIENT_CERT_CHAIN: '/c/chain' };
    expect(configOf({ proxyConfig: { controlPlaneAuthPolicy: 1 }, env }).awaited).toEqual([
      '/c/chain',
      ownFiles.key,
      ownFiles.root,
    ]);
  });

  it('with MUTUAL_TLS and certificates of a machine waits for those, watches and checks them', () => {
    const files = { chain: '/p/cert-chain.pem', key: '/p/key.pem', root: '/p/root-cert.pem' };
    expect(
      configOf({ given: { controlPlaneAuthPolicy: 'MUTUAL_TLS' }, env: { PROV_CERT: '/p' } }),
    ).toMatchObject({
      controlPlaneTls: files,
      awaited: all(files),
      certificates: [ownFiles, files],
      watched: [...all(ownFiles), ...all(files)],
    });
  });

  it('is talked to by MUTUAL_TLS on the port where istiod asks for that, unless certificates are mounted files', () => {
    const proxyConfig = { discoveryAddress: 'istiod.istio-system.svc:15012' };
    expect(configOf({ proxyConfig })).toMatchObject({
      controlPlaneAuthPolicy: 'MUTUAL_TLS',
      awaited: all(ownFiles),
    });
    expect(configOf({ proxyConfig, env: { FILE_MOUNTED_CERTS: 'true' } })).toMatchObject({
      controlPlaneAuthPolicy: 'NONE',
      awaited: [],
    });
    const changedConfig = { ...proxyConfig, controlPlaneAuthPolicy: 1 };
    expect(
      configOf({ proxyConfig: changedConfig, env: { FILE_MOUNTED_CERTS: 'true' } })
        .controlPlaneAuthPolicy,
    ).toBe('MUTUAL_TLS');
  });

  it('without TLS needs no file', () => {
    expect(configOf({ env: { PROV_CERT: '/p' } })).toMatchObject({
      awaited: [],
      watched: all(ownFiles),
    });
  });
});

describe('a service', () => {
  it.each(['envoyMetricsService', 'envoyAccessLogService'])(
    'in mode MUTUAL has its own files: %s',
    (field) => {
      const tlsSettings = { ...mutual, caCertificates: '/m/root' };
      const { config, sources } = accepted({
        proxyConfig: { [field]: { address: 's:1', tlsSettings } },
      });
      expect(config.certificates).toEqual([
        ownFiles,
        { chain: '/m/chain', key: '/m/key', root: '/m/root' },
      ]);
      expect(config.watched).toEqual([...all(ownFiles), '/m/chain', '/m/key', '/m/root']);
      expect(config.awaited).toEqual(['/m/chain', '/m/key', '/m/root']);
      expect(sources.certificates).toBe('PROXY_CONFIG');
    },
  );

  it('in mode MUTUAL without a CA has an empty one, which nobody watches', () => {
    const config = configOf({ proxyConfig: service(mutual) });
    expect(config.certificates.at(-1)).toEqual({ chain: '/m/chain', key: '/m/key', root: '' });
    expect(config.watched).toEqual([...all(ownFiles), '/m/chain', '/m/key']);
  });

  it('in mode SIMPLE has a CA alone, which is watched and waited for', () => {
    const config = configOf({
      proxyConfig: service({
        mode: 'SIMPLE',
        caCertificates: '/m/root',
        clientCertificate: '/unused',
      }),
    });
    expect(config.certificates).toEqual([ownFiles]);
    expect(config).toMatchObject({ watched: [...all(ownFiles), '/m/root'], awaited: ['/m/root'] });
  });

  it('in mode ISTIO_MUTUAL has the certificates of the mesh, and those under their names (the peer: chain and root swapped)', () => {
    expect(configOf({ proxyConfig: service({ mode: 'ISTIO_MUTUAL' }) })).toMatchObject({
      certificates: [ownFiles],
      watched: all(ownFiles),
      awaited: all(ownFiles),
    });
    const named = {
      mode: 'ISTIO_MUTUAL',
      clientCertificate: '/m/chain',
      privateKey: '/m/key',
      caCertificates: '/m/root',
    };
    expect(configOf({ proxyConfig: service(named) }).awaited).toEqual([
      '/m/chain',
      '/m/key',
      '/m/root',
    ]);
  });

  it('reads what ISTIO_META_TLS_CLIENT_* name instead, but no CA if it has none', () => {
    const env = {
      ISTIO_META_TLS_CLIENT_CERT_CHAIN: '/c/chain',
      ISTIO_META_TLS_CLIENT_KEY: '/c/key',
      ISTIO_META_TLS_CLIENT_ROOT_CERT: '/c/root',
    };
    const client = { chain: '/c/chain', key: '/c/key', root: '/c/root' };
    expect(
      configOf({ env, proxyConfig: service({ ...mutual, caCertificates: '/m/root' }) })
        .certificates,
    ).toEqual([ownFiles, client]);
    expect(configOf({ env, proxyConfig: service(mutual) }).certificates).toEqual([
      ownFiles,
      client,
      { ...client, root: '' },
    ]);
    expect(configOf({ env, proxyConfig: service({ mode: 'SIMPLE' }) }).watched).toEqual([
      ...all(ownFiles),
      ...all(client),
    ]);
  });

  it.each([
    ['is switched off', service({ ...mutual, mode: 'DISABLE' })],
    ['has no address', service(mutual, '')],
    ['has no TLS', { envoyMetricsService: { address: 'metrics:1' } }],
  ])('needs no file if it %s', (_, proxyConfig) => {
    expect(configOf({ proxyConfig })).toMatchObject({
      certificates: [ownFiles],
      watched: all(ownFiles),
      awaited: [],
    });
  });

  it('shares a pair with another', () => {
    const tlsSettings = { ...mutual, caCertificates: '/m/root' };
    const remote = { address: 's:1', tlsSettings };
    expect(
      configOf({ proxyConfig: { envoyMetricsService: remote, envoyAccessLogService: remote } })
        .certificates,
    ).toHaveLength(2);
  });
});
