import { describe, expect, it } from 'vitest';
import { defaultProxyTracing } from '../../../../../src/pilot-discovery/istio/telemetry/proxy-tracing.ts';
import { sentTracing } from '../../../../../src/pilot-discovery/istio/telemetry/read-proxy-tracing.ts';

describe('sentTracing', () => {
  it('has the settings that a proxy sends', () => {
    const sent = { tracing: { sampling: 5, maxPathTagLength: 7, enableIstioTags: false } };
    expect(sentTracing(sent)).toMatchObject({ sampling: 5, maxPathTagLength: 7, istioTags: 'off' });
  });

  it('has the defaults if one of them is wrong', () => {
    const sent = { tracing: { sampling: 'much', maxPathTagLength: 7 } };
    expect(sentTracing(sent)).toEqual(defaultProxyTracing);
  });

  it.each([undefined, null])('is undefined for %s', (sent) => {
    expect(sentTracing(sent)).toBeUndefined();
  });
});
