import {
  boolean,
  type Get,
  list,
  maybe,
  members,
  needed,
  oneOf,
  type ReadMember,
  text,
  warn,
} from './members.ts';
import { defaultMeshConfig, type MeshConfig } from './mesh-config.ts';
import { extensionProviders } from './read-extension-provider.ts';
import type { ProxyTracing } from './proxy-tracing.ts';
import { logFormat } from './read-log-format.ts';
import { proxyTracing } from './read-proxy-tracing.ts';

const defaultTracers: ReadMember<readonly string[]> = (value, place) => {
  const names = list(needed)(value, place);
  if (names.length > 1) warn(place, `only the first one, ${names[0] ?? ''}, has an effect`);
  return names;
};

const defaultProviders: ReadMember<MeshConfig['defaultProviders']> = (value, place) =>
  members(value, place, [], (get) => ({
    accessLogging: get('accessLogging', list(needed)),
    tracing: get('tracing', defaultTracers),
  }));

/** Reads the `defaultConfig`: the ProxyConfig of proxies that send none. */
const defaultTracing: ReadMember<ProxyTracing> = (value, place) => {
  const others = Object.keys(typeof value === 'object' && value !== null ? value : {}).filter(
    (name) => name !== 'tracing',
  );
  if (others.length > 0) warn(place, 'only its tracing has an effect here: agents read the rest');
  return members(value, { ...place, unknown: 'nothing' }, [], (get) =>
    get('tracing', (tracing, tracingPlace) =>
      proxyTracing(tracing, { ...tracingPlace, unknown: place.unknown }),
    ),
  );
};

/** Reads the fields of a MeshConfig about logs and spans. */
export function meshTelemetry(
  get: Get,
): Pick<
  MeshConfig,
  | 'accessLogFile'
  | 'accessLogFormat'
  | 'accessLogEncoding'
  | 'listenerLogs'
  | 'providers'
  | 'defaultProviders'
  | 'enableTracing'
  | 'defaultTracing'
> {
  return {
    accessLogFile: get('accessLogFile', text),
    accessLogFormat: get('accessLogFormat', logFormat),
    accessLogEncoding: get(
      'accessLogEncoding',
      oneOf({ TEXT: 'text', JSON: 'json' } as const, 'text'),
    ),
    listenerLogs: get('disableEnvoyListenerLog', boolean) === true ? 'off' : 'on',
    providers: get('extensionProviders', extensionProviders),
    defaultProviders:
      get('defaultProviders', maybe(defaultProviders)) ?? defaultMeshConfig.defaultProviders,
    enableTracing: get('enableTracing', boolean) ?? defaultMeshConfig.enableTracing,
    defaultTracing: get('defaultConfig', defaultTracing),
  };
}
