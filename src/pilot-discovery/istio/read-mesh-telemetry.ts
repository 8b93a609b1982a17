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
} from './members.ts';
import { defaultMeshConfig, type MeshConfig } from './mesh-config.ts';
import { extensionProviders } from './read-extension-provider.ts';
import { logFormat } from './read-log-format.ts';

const defaultProviders: ReadMember<MeshConfig['defaultProviders']> = (value, place) =>
  members(value, place, [], (get) => ({ accessLogging: get('accessLogging', list(needed)) }));

/** Reads the fields of a MeshConfig about logs. */
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
  };
}
