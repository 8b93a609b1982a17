import {
  boolean,
  duration,
  durationAbove0,
  list,
  members,
  needed,
  oneOf,
  type ReadMember,
  text,
  warn,
} from '../fields/members.ts';
import { defaultMeshConfig, type MeshConfig } from './mesh-config.ts';
import type { Flaw } from '../documents/model.ts';
import { labelSelectors } from '../fields/read-label-selector.ts';
import { authorizers } from './read-authorizers.ts';
import { meshTelemetry } from './read-mesh-telemetry.ts';
import { settingDocument } from './setting-document.ts';

/** A MeshConfig, the folders of `configSources` (`fs://FOLDER`), and its flaws. */
export interface ReadMesh {
  readonly mesh: MeshConfig;
  readonly folders: readonly string[];
  readonly flaws: readonly Flaw[];
}

/**
 * The largest number of unknown fields that are reported. Istio's MeshConfig has fewer. To find the
 * lines of thousands would take long.
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
    // Only one flaw is reported of an unknown field: that it has no effect.
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

const meshMembers: ReadMember<Pick<ReadMesh, 'mesh' | 'folders'>> = (value, place) =>
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
      ...meshTelemetry(get),
      authorizers: get('extensionProviders', authorizers),
    };
    const folders = get('configSources', list(configSource)).flatMap((address) =>
      address.startsWith('fs://') ? [address.slice('fs://'.length)] : [],
    );
    return { mesh, folders };
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

/** Reads the address of a source: `fs://FOLDER`. */
const configSource: ReadMember<string> = (value, place) =>
  members(value, place, ['tlsSettings', 'subscribedResources'], (get) =>
    get('address', (address, addressPlace) => {
      const read = needed(address, addressPlace);
      if (read !== '' && !/^fs:\/\/./.test(read))
        warn(addressPlace, `'${read}' is not read: only fs://FOLDER is`);
      return read;
    }),
  );
