import { LineCounter, parseDocument } from 'yaml';
import { formatFlaw } from './header-format.ts';
import { boolean, duration, durationAbove0, list, members, needed, oneOf, type Place, type Read, text, wrong } from './members.ts';
import { defaultMeshConfig, type MeshConfig } from './mesh-config.ts';
import type { Flaw } from './model.ts';

/** A MeshConfig, the folders of `configSources` (`fs://FOLDER`), and what is wrong with it. */
export interface ReadMesh {
  readonly mesh: MeshConfig;
  readonly folders: readonly string[];
  readonly flaws: readonly Flaw[];
}

/** A line of text, or the fields of JSON, with the same commands. */
const logFormat: Read<string> = (value, place) => {
  const read = text(value, place);
  const flaw = formatFlaw(read);
  if (flaw !== undefined) wrong(place, flaw);
  return read;
};

/** Reads a MeshConfig in YAML. A field that has no effect here is warned of. Pure. */
export function readMeshConfig(content: string, path: string): ReadMesh {
  const flaws: Flaw[] = [];
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  const [error] = document.errors;
  const told = (line: number, field: string, reason: string, severity: Flaw['severity']) =>
    flaws.push({ key: undefined, origin: { source: 'mesh', path, line }, field, reason, severity });
  if (error !== undefined) told(lines.linePos(error.pos[0]).line, '', `it is no YAML: ${error.message.split('\n')[0] ?? ''}`, 'error');
  const value: unknown = error === undefined ? (document.toJS() as unknown) : undefined;
  const lineOf = (field: string): number => {
    const steps = field.split(/[.[\]]+/).filter((step) => step !== '').map((step) => (/^\d+$/.test(step) ? Number(step) : step)); // prettier-ignore
    const node = document.getIn(steps, true) as { readonly range?: readonly [number, ...unknown[]] | null } | undefined;
    return lines.linePos(node?.range?.[0] ?? 0).line;
  };
  // Of a field that is not known here nothing more is said than that.
  const tell: Place['tell'] = (field, reason, severity) => {
    const isForeign = reason.startsWith('there is no such field');
    told(lineOf(field), field, isForeign ? 'it has no effect here' : reason, isForeign ? 'warning' : severity);
  };
  const { accessLogFormat, accessLogFile, ...standard } = defaultMeshConfig;
  const folders: string[] = [];
  const mesh = members(value ?? {}, { parent: undefined, step: '', tell }, [], (get): MeshConfig => {
    const policy = get('outboundTrafficPolicy', (inner, at) =>
      members(inner, at, [], (of) =>
        of('mode', oneOf({ ALLOW_ANY: 'allow-any', REGISTRY_ONLY: 'registry-only' } as const, standard.outboundTrafficPolicy)),
      ),
    );
    const folder: Read<string> = (value, at) => {
      const address = needed(value, at);
      if (address !== '' && !/^fs:\/\/./.test(address))
        at.tell('configSources', `'${address}' is not read: only fs://FOLDER is`, 'warning');
      return address;
    };
    const sources = get(
      'configSources',
      list((one, at) => members(one, at, ['tlsSettings', 'subscribedResources'], (of) => of('address', folder))),
    );
    for (const address of sources) if (address.startsWith('fs://')) folders.push(address.slice('fs://'.length));
    return {
      rootNamespace: get('rootNamespace', text) || standard.rootNamespace,
      trustDomain: get('trustDomain', text) || standard.trustDomain,
      outboundTrafficPolicy: policy,
      enableAutoMtls: get('enableAutoMtls', boolean) ?? standard.enableAutoMtls,
      connectTimeoutMs: get('connectTimeout', durationAbove0) ?? standard.connectTimeoutMs,
      protocolDetectionTimeoutMs: get('protocolDetectionTimeout', duration) ?? standard.protocolDetectionTimeoutMs,
      accessLogFile: get('accessLogFile', text) || accessLogFile,
      accessLogFormat: get('accessLogFormat', logFormat) || accessLogFormat,
      accessLogEncoding: get('accessLogEncoding', oneOf({ TEXT: 'text', JSON: 'json' } as const, 'text')),
    };
  });
  return { mesh, folders, flaws };
}
