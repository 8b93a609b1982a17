import { expect, it } from 'vitest';
import { differingValues } from '../../../../../src/pilot-agent/run/start/differing-values.ts';
import { presentConfig } from '../../../../../src/pilot-agent/run/start/present-config.ts';
import { accepted, type TestConfig } from '../../../../support/resolved.ts';

const values = (testConfig: TestConfig) =>
  differingValues(presentConfig(accepted(testConfig)), ['10.1.2.3']);

it('nothing differs without a word', () => {
  expect(values({})).toBe('');
});

it('a value that is given is left out if it is the default', () => {
  expect(
    values({
      given: { drainDuration: '45s', statusPort: '15020' },
      env: { JWT_POLICY: 'third-party-jwt', PATH: '/bin' },
    }),
  ).toBe('');
});

it('each is written as it was given, and others with their source, without secrets and metadata', () => {
  const testConfig: TestConfig = {
    given: { concurrency: '2', discoveryAddress: 'istiod:15012' },
    proxyConfig: {
      drainDuration: '30s',
      tracing: { lightstep: { address: 'l:1', accessToken: 'hush' } },
    },
    env: {
      CA_ADDR: 'ca:15012',
      POD_NAME: 'web-0',
      ISTIO_META_OWNER: 'me',
      ISTIO_META_CLUSTER_ID: 'c',
    },
  };
  const differences = values(testConfig);
  for (const difference of [
    '--concurrency=2',
    '--discoveryAddress=istiod:15012',
    'controlPlaneAuthPolicy=MUTUAL_TLS (--discoveryAddress)',
    'drainDuration=30s (PROXY_CONFIG)',
    'CA_ADDR=ca:15012',
    'POD_NAME=web-0',
    'ISTIO_META_CLUSTER_ID=c',
    'id=web-0. ($POD_NAME)',
  ])
    expect(differences.split(', ')).toContain(difference);
  expect(differences).not.toMatch(/hush|ISTIO_META_OWNER/);
});

it('a long value is cut', () => {
  expect(
    values({
      env: {
        ISTIO_KUBE_APP_PROBERS:
          '{"/app-health/a/readyz":{"httpGet":{"port":1,"path":"/a/long/path"}}}',
      },
    }),
  ).toMatch(/^ISTIO_KUBE_APP_PROBERS=.{60}…$/);
});
