import {
  boolean,
  duration,
  durationAbove0,
  list,
  maybe,
  members,
  oneOf,
  type ReadMember,
  text,
} from '../fields/members.ts';
import type { ConfigServer } from './config-server.ts';
import { defaultMeshConfig, type MeshConfig } from './mesh-config.ts';
import { configSource } from './read-config-source.ts';
import type { Flaw } from '../documents/model.ts';
import { labelSelectors } from '../fields/read-label-selector.ts';
import { localities } from '../traffic/read-localities.ts';
import { authorizers } from './read-authorizers.ts';
import { meshTelemetry } from './read-mesh-telemetry.ts';
import { settingDocument } from './setting-document.ts';

/** A MeshConfig, the places of `configSources`, and its flaws. */
export interface ReadMesh {
  readonly mesh: MeshConfig;
  /** `fs://FOLDER` */
  readonly folders: readonly string[];
  /** `xds://HOST:PORT` */
  readonly servers: readonly ConfigServer[];
  readonly flaws: readonly Flaw[];
}

/**
 * The largest number of unknown fields that are reported. Istio's MeshConfig has fewer. Finding the
 * lines of thousands of fields would take long.
 */
const mostForeign = 100;

/** Reads a MeshConfig in YAML. A field that has no effect here is a warning. Pure. */
export function readMeshConfig(content: string, path: string): ReadMesh {
  const { value, tell, flaws } = settingDocument(content, path);
  let foreign = 0;
  const read = meshMembers(value, {
    parent: undefined,
    step: '',
    unknown: 'warning',
    ifWrong: 'refuse',
    // For an unknown field only one flaw is reported: that it has no effect.
    tell(field, reason, severity) {
      const isForeign = reason.startsWith('there is no such field');
      foreign += isForeign ? 1 : 0;
      if (!isForeign) tell(field, reason, severity);
      else if (foreign <= mostForeign) tell(field, 'it has no effect here', 'warning');
    },
  });
  if (foreign > mostForeign)
    tell('', `${foreign - mostForeign} more fields have no effect here`, 'warning');
  return { ...read, flaws };
}

const meshMembers: ReadMember<Omit<ReadMesh, 'flaws'>> = (value, place) =>
  members(value, place, [], (get) => {
    const standard = defaultMeshConfig;
    const mesh: MeshConfig = {
      rootNamespace: get('rootNamespace', text) || standard.rootNamespace,
      trustDomain: get('trustDomain', text) || standard.trustDomain,
      discoverySelectors: get('discoverySelectors', labelSelectors),
      outboundTrafficPolicy: get('outboundTrafficPolicy', outboundTrafficPolicy),
      enableAutoMtls: get('enableAutoMtls', boolean) ?? standard.enableAutoMtls,
      connectTimeoutMs: get('connectTimeout', durationAbove0) ?? standard.connectTimeoutMs,
      protocolDetectionTimeoutMs:
        get('protocolDetectionTimeout', duration) ?? standard.protocolDetectionTimeoutMs,
      localities: get('localityLbSetting', maybe(localities)) ?? standard.localities,
      ...meshTelemetry(get),
      authorizers: get('extensionProviders', authorizers),
    };
    const sources = get('configSources', list(configSource));
    return {
      mesh,
      folders: sources.flatMap((source) => (source?.type === 'folder' ? [source.path] : [])),
      servers: sources.flatMap((source) => (source?.type === 'server' ? [source.server] : [])),
    };
  });

const outboundTrafficPolicy: ReadMember<MeshConfig['outboundTrafficPolicy']> = (value, place) =>
  members(value, place, [], (get) =>
    get(
      'mode',
      oneOf(
        { ALLOW_ANY: 'allow-any', REGISTRY_ONLY: 'registry-only' } as const,
        defaultMeshConfig.outboundTrafficPolicy,
      ),
    ),
  );
