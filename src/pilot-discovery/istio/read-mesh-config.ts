import {
  boolean,
  duration,
  durationAbove0,
  list,
  members,
  needed,
  oneOf,
  type Place,
  type ReadMember,
  text,
  warn,
} from './members.ts';
import { defaultMeshConfig, type MeshConfig } from './mesh-config.ts';
import type { Flaw } from './model.ts';
import { labelSelectors } from './read-label-selector.ts';
import { authorizers } from './read-authorizers.ts';
import { meshTelemetry } from './read-mesh-telemetry.ts';
import { documentOf } from './setting-document.ts';

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
  const flaws: Flaw[] = [];
  const addFlaw = (line: number, field: string, reason: string, severity: Flaw['severity']) =>
    flaws.push({ key: undefined, origin: { source: 'mesh', path, line }, field, reason, severity });
  const { value, lineOf } = documentOf(content, (line, reason) =>
    addFlaw(line, '', reason, 'error'),
  );
  let foreign = 0;
  // Only one flaw is reported of an unknown field: that it has no effect.
  const tell: Place['tell'] = (field, reason, severity) => {
    const isForeign = reason.startsWith('there is no such field');
    foreign += isForeign ? 1 : 0;
    if (isForeign && foreign > mostForeign) return;
    addFlaw(
      lineOf(field),
      field,
      isForeign ? 'it has no effect here' : reason,
      isForeign ? 'warning' : severity,
    );
  };
  const standard = defaultMeshConfig;
  const folders: string[] = [];
  const mesh = members(
    value ?? {},
    { parent: undefined, step: '', unknown: 'warning', ifWrong: 'refuse', tell },
    [],
    (get): MeshConfig => {
      const policy = get('outboundTrafficPolicy', (inner, policyPlace) =>
        members(inner, policyPlace, [], (policyMember) =>
          policyMember(
            'mode',
            oneOf(
              { ALLOW_ANY: 'allow-any', REGISTRY_ONLY: 'registry-only' } as const,
              standard.outboundTrafficPolicy,
            ),
          ),
        ),
      );
      const folder: ReadMember<string> = (value, place) => {
        const address = needed(value, place);
        if (address !== '' && !/^fs:\/\/./.test(address))
          warn(place, `'${address}' is not read: only fs://FOLDER is`);
        return address;
      };
      const sources = get(
        'configSources',
        list((source, sourcePlace) =>
          members(source, sourcePlace, ['tlsSettings', 'subscribedResources'], (sourceMember) =>
            sourceMember('address', folder),
          ),
        ),
      );
      for (const address of sources)
        if (address.startsWith('fs://')) folders.push(address.slice('fs://'.length));
      return {
        rootNamespace: get('rootNamespace', text) || standard.rootNamespace,
        trustDomain: get('trustDomain', text) || standard.trustDomain,
        discoverySelectors: get('discoverySelectors', labelSelectors),
        outboundTrafficPolicy: policy,
        enableAutoMtls: get('enableAutoMtls', boolean) ?? standard.enableAutoMtls,
        connectTimeoutMs: get('connectTimeout', durationAbove0) ?? standard.connectTimeoutMs,
        protocolDetectionTimeoutMs:
          get('protocolDetectionTimeout', duration) ?? standard.protocolDetectionTimeoutMs,
        ...meshTelemetry(get),
        authorizers: get('extensionProviders', authorizers),
      };
    },
  );
  if (foreign > mostForeign)
    addFlaw(1, '', `${foreign - mostForeign} more fields have no effect here`, 'warning');
  return { mesh, folders, flaws };
}
