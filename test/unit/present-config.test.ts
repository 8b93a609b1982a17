import { expect, it } from 'vitest';
import { presentConfig } from '../../src/run/present-config.ts';
import { accepted } from '../support/resolved.ts';

it('shows each value with its source, times with their unit, and nothing of a secret', () => {
  const shown = presentConfig(
    accepted({
      proxyConfig: { tracing: { lightstep: { address: 'l:1', accessToken: 'hush' } }, drainDuration: '30s' },
      annotation: { proxyMetadata: { API_KEY: 'hush', COLOUR: 'red', headers: 'some' } },
      given: { parentShutdownDuration: '40s' },
    }),
  );
  expect(shown['drainDuration']).toEqual({ value: '30s', source: 'PROXY_CONFIG' });
  expect(shown['parentShutdownDuration']).toEqual({ value: '40s', source: '--parentShutdownDuration' });
  expect(shown['minDelay']).toEqual({ value: '10s', source: 'default' });
  expect(shown['proxyMetadata']).toEqual({
    value: { API_KEY: '***', COLOUR: 'red', headers: 'some' },
    source: 'annotation proxy.istio.io/config',
  });
  expect(shown['binaryPath']).toEqual({ value: null, source: 'default' });
  expect(JSON.stringify(shown)).not.toContain('hush');
});

it('shows what variables say of probes, secrets and metadata, and nothing of a secret', () => {
  const header = { name: 'Authorization', value: 'hush' };
  const env = {
    ISTIO_KUBE_APP_PROBERS: JSON.stringify({ '/app-health/a/readyz': { httpGet: { port: 1, httpHeaders: [header] } } }),
    ISTIO_META_TOKEN: 'hush',
    ISTIO_METAJSON_ANNOTATIONS: '{"a":"hush"}',
    ISTIO_META_OWNER: 'me',
    SECRET_TTL: '1h',
  };
  const shown = presentConfig(accepted({ env }));
  expect(shown['probes']).toMatchObject({
    value: { '/app-health/a/readyz': { port: 1, timeout: '1s', headers: [['Authorization', '***']] } },
    source: '$ISTIO_KUBE_APP_PROBERS',
  });
  expect(shown['secrets']).toMatchObject({
    value: { ttl: '3600s', tokenFile: './var/run/secrets/tokens/istio-token' },
    source: '$SECRET_TTL',
  });
  expect(shown['metadataVariables']?.value).toEqual({ ISTIO_META_TOKEN: '***', ISTIO_METAJSON_ANNOTATIONS: '***', ISTIO_META_OWNER: 'me' });
  expect(JSON.stringify(shown)).not.toContain('hush');
});
