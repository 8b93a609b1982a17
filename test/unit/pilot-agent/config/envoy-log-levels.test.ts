import { expect, it } from 'vitest';
import { envoyLogLevels } from '../../../../src/pilot-agent/config/envoy-log-levels.ts';

it.each([
  { level: 'warning', components: 'misc:error', is: ['warning', 'misc:error'] },
  { level: 'warning,misc:error', components: 'misc:error', is: ['warning', 'misc:error'] },
  {
    level: 'info,misc:debug,upstream:trace',
    components: 'misc:error',
    is: ['info', 'misc:debug,upstream:trace'],
  },
  { level: 'info,http:off', components: 'misc:error', is: ['info', 'misc:error,http:off'] },
  { level: 'warning', components: '', is: ['warning', ''] },
  { level: '', components: 'a:b:info', is: ['', 'a:b:info'] },
])('$level and $components are what Envoy is told: $is', ({ level, components, is }) => {
  const { logLevel, componentLogLevel } = envoyLogLevels({
    proxyLogLevel: level,
    proxyComponentLogLevel: components,
  });
  expect([logLevel, componentLogLevel]).toEqual(is);
});
