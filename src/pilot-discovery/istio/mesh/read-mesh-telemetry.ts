import { type ExtensionProvider, isLogProvider } from '../telemetry/extension-provider.ts';
import {
  below,
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
} from '../fields/members.ts';
import { defaultMeshConfig, type MeshConfig } from './mesh-config.ts';
import { extensionProviders } from '../telemetry/read-extension-provider.ts';
import type { ProxyTracing } from '../telemetry/proxy-tracing.ts';
import { logFormat } from '../telemetry/read-log-format.ts';
import { proxyTracing } from '../telemetry/read-proxy-tracing.ts';
import { isTracer } from '../telemetry/tracer.ts';

/** Returns a reader of names of providers. Warns of names that have no effect. */
const namesOf =
  (
    providers: readonly ExtensionProvider[],
    isRight: (provider: ExtensionProvider) => boolean,
    what: string,
  ): ReadMember<readonly string[]> =>
  (value, place) => {
    const names = list(needed)(value, place);
    for (const [index, name] of names.entries()) {
      const provider = providers.find(
        (candidate) => candidate.name.toLowerCase() === name.toLowerCase(),
      );
      const namePlace = below(place, `[${index}]`);
      if (name !== '' && provider === undefined)
        warn(namePlace, `no extensionProvider that is served has the name ${name}`);
      if (provider !== undefined && !isRight(provider))
        warn(namePlace, `the extensionProvider ${name} takes no ${what}`);
    }
    return names;
  };

const defaultProviders =
  (providers: readonly ExtensionProvider[]): ReadMember<MeshConfig['defaultProviders']> =>
  (value, place) =>
    members(value, place, [], (get) => {
      const tracing = get('tracing', namesOf(providers, isTracer, 'spans'));
      if (tracing.length > 1)
        warn(below(place, 'tracing'), `only the first one, ${tracing[0] ?? ''}, has an effect`);
      return {
        accessLogging: get('accessLogging', namesOf(providers, isLogProvider, 'access logs')),
        tracing,
      };
    });

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
  const providers = get('extensionProviders', extensionProviders);
  return {
    accessLogFile: get('accessLogFile', text),
    accessLogFormat: get('accessLogFormat', logFormat),
    accessLogEncoding: get(
      'accessLogEncoding',
      oneOf({ TEXT: 'text', JSON: 'json' } as const, 'text'),
    ),
    listenerLogs: get('disableEnvoyListenerLog', boolean) === true ? 'off' : 'on',
    providers,
    defaultProviders:
      get('defaultProviders', maybe(defaultProviders(providers))) ??
      defaultMeshConfig.defaultProviders,
    enableTracing: get('enableTracing', boolean) ?? defaultMeshConfig.enableTracing,
    defaultTracing: get('defaultConfig', defaultTracing),
  };
}
