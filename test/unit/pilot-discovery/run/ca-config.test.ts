import { describe, expect, it } from 'vitest';
import { caConfig } from '../../../../src/pilot-discovery/run/ca-config.ts';

const hour = 3_600_000;

describe('caConfig', () => {
  it('has the defaults of istiod', () => {
    expect(caConfig({ ROOT_CA_DIR: '' }, 'istio-system')).toEqual({
      problems: [],
      config: {
        places: {
          folder: './etc/cacerts',
          rootFile: '',
          rootLifetime: 3_650 * 24 * hour,
        },
        lifetimes: { usual: 24 * hour, longest: 90 * 24 * hour },
        rate: { perSecond: 100, burst: 200 },
        namespace: 'istio-system',
        names: [
          'istiod.istio-system.svc',
          'istiod-remote.istio-system.svc',
          'istio-pilot.istio-system.svc',
        ],
      },
    });
  });

  it('reads each variable', () => {
    const { config, problems } = caConfig(
      {
        ROOT_CA_DIR: '/ca',
        SELF_SIGNED_CA_FILE: '/root.pem',
        CITADEL_SELF_SIGNED_CA_CERT_TTL: '48h',
        DEFAULT_WORKLOAD_CERT_TTL: '2h',
        MAX_WORKLOAD_CERT_TTL: '3h',
        CERTIFICATES_PER_SECOND: '7',
        ISTIOD_CUSTOM_HOST: 'mesh.example,127.0.0.1',
      },
      'mesh',
    );
    expect(problems).toEqual([]);
    expect(config).toEqual({
      places: { folder: '/ca', rootFile: '/root.pem', rootLifetime: 48 * hour },
      lifetimes: { usual: 2 * hour, longest: 3 * hour },
      rate: { perSecond: 7, burst: 14 },
      namespace: 'mesh',
      names: [
        'istiod.mesh.svc',
        'istiod-remote.mesh.svc',
        'istio-pilot.mesh.svc',
        'mesh.example',
        '127.0.0.1',
      ],
    });
  });

  it('may be off', () => {
    expect(caConfig({ ENABLE_CA_SERVER: 'false' }, 'mesh').config).toBeUndefined();
  });

  it.each([
    [{ ENABLE_CA_SERVER: 'maybe' }, "ENABLE_CA_SERVER: 'maybe' is not true or false"],
    [{ MAX_WORKLOAD_CERT_TTL: '-1h' }, "MAX_WORKLOAD_CERT_TTL: '-1h' is not a duration of 1s"],
    [{ DEFAULT_WORKLOAD_CERT_TTL: '1ms' }, "DEFAULT_WORKLOAD_CERT_TTL: '1ms' is not a duration"],
    [{ DEFAULT_WORKLOAD_CERT_TTL: '2161h' }, 'is longer than MAX_WORKLOAD_CERT_TTL'],
    [{ CITADEL_SELF_SIGNED_CA_CERT_TTL: 'ten years' }, "'ten years' is not a duration"],
    [{ CERTIFICATES_PER_SECOND: '0' }, "CERTIFICATES_PER_SECOND: '0' is not a number from 1"],
    [{ ISTIOD_CUSTOM_HOST: 'a b' }, "ISTIOD_CUSTOM_HOST: 'a b' is neither a DNS name"],
  ])('refuses %j', (env, problem) => {
    expect(caConfig(env, 'mesh').problems).toEqual([expect.stringContaining(problem)]);
  });
});
