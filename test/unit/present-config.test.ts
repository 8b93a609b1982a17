import { expect, it } from 'vitest';
import { presentConfig } from '../../src/run/present-config.ts';
import { accepted } from '../support/resolved.ts';

it('shows each value with its source, times with their unit, and nothing of a secret', () => {
  const shown = presentConfig(
    accepted({
      proxyConfig: { tracing: { lightstep: { address: 'l:1', accessToken: 'hush' } }, drainDuration: '30s' },
      annotation: { proxyMetadata: { API_KEY: 'hush', COLOUR: 'red' } },
      given: { parentShutdownDuration: '40s' },
    }),
  );
  expect(shown['drainDuration']).toEqual({ value: '30s', source: 'PROXY_CONFIG' });
  expect(shown['parentShutdownDuration']).toEqual({ value: '40s', source: '--parentShutdownDuration' });
  expect(shown['minDelay']).toEqual({ value: '10s', source: 'default' });
  expect(shown['proxyMetadata']).toEqual({ value: { API_KEY: '***', COLOUR: 'red' }, source: 'annotation proxy.istio.io/config' });
  expect(shown['binaryPath']).toEqual({ value: null, source: 'default' });
  expect(JSON.stringify(shown)).not.toContain('hush');
});
