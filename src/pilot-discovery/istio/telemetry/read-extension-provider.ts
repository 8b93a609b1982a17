import { type ExtensionProvider, type LogFormat, ownFileLog } from './extension-provider.ts';
import {
  below,
  boolean,
  type Get,
  list,
  maybe,
  members,
  named,
  needed,
  type ReadMember,
  text,
  warn,
  wrong,
} from '../fields/members.ts';
import { headerName } from '../fields/read-header-name.ts';
import { logFields, logFormat } from './read-log-format.ts';
import { providerAddress } from '../fields/read-provider-address.ts';
import { tracerKinds } from './read-tracer.ts';
import { isObject } from '../../../shared/text/is-object.ts';

type Named<T> = T extends ExtensionProvider ? Omit<T, 'name'> : never;
type Provider = Named<ExtensionProvider>;

/** Reads the settings that all services for logs have. */
const logService = (get: Get) => ({
  at: providerAddress(get),
  logName: get('logName', text),
  filterState: get('filterStateObjectsToLog', list(needed)),
});

const fileFormat: ReadMember<LogFormat> = (value, place) =>
  members(value, place, [], (get, has): LogFormat => {
    const [line, fields] = [get('text', logFormat), get('labels', logFields)];
    if (has('text') && has('labels'))
      wrong(place, 'it has both text and labels: one of them counts');
    return has('labels') ? { type: 'json', fields } : { type: 'text', text: line };
  });

const isDefault: LogFormat = { type: 'text', text: '' };

const file: ReadMember<Provider> = (value, place) =>
  members(value, place, [], (get) => ({
    type: 'file',
    path: get('path', text) || '/dev/stdout',
    format: get('logFormat', maybe(fileFormat)) ?? isDefault,
    emptyValues: get('omitEmptyValues', boolean) === true ? 'left-out' : 'kept',
  }));

const httpService: ReadMember<Provider> = (value, place) =>
  members(value, place, [], (get) => ({
    type: 'http-service',
    ...logService(get),
    requestHeaders: get('additionalRequestHeadersToLog', list(headerName)),
    responseHeaders: get('additionalResponseHeadersToLog', list(headerName)),
    responseTrailers: get('additionalResponseTrailersToLog', list(headerName)),
  }));

const tcpService: ReadMember<Provider> = (value, place) =>
  members(value, place, [], (get) => ({ type: 'tcp-service', ...logService(get) }));

const openTelemetryFormat: ReadMember<{
  readonly text: string;
  readonly attributes: Readonly<Record<string, string>>;
}> = (value, place) =>
  members(value, place, [], (get) => ({
    text: get('text', logFormat),
    attributes: get('labels', named(logFormat)),
  }));

const openTelemetryLogs: ReadMember<Provider> = (value, place) =>
  members(value, place, [], (get) => ({
    type: 'open-telemetry-logs',
    at: providerAddress(get),
    logName: get('logName', text),
    ...(get('logFormat', maybe(openTelemetryFormat)) ?? { text: '', attributes: {} }),
  }));

/** Reads a provider that has no effect here, and warns of it. */
const without =
  (reason: string): ReadMember<Provider> =>
  (_, place) => {
    warn(place, reason);
    return { type: 'other' };
  };

const noMetrics = without(
  "Envoy has no filter for Istio's metrics: it has no effect, and Envoy's own statistics stay",
);

/** The readers of all kinds of providers but authorizers, by the field of the kind. */
export const telemetryKinds: ReadonlyMap<string, ReadMember<Provider>> = new Map([
  ['envoyFileAccessLog', file],
  ['envoyHttpAls', httpService],
  ['envoyTcpAls', tcpService],
  ['envoyOtelAls', openTelemetryLogs],
  ['prometheus', noMetrics],
  ['stackdriver', noMetrics],
  ...tracerKinds,
  [
    'opencensus',
    without('Envoy no longer has a tracer for it, so it has no effect: use opentelemetry'),
  ],
  ['sds', without('sds is not served yet, and has no effect')],
]);

/**
 * Reads one provider; undefined for an authorizer. Unknown fields are reported by the reader of
 * authorizers, which sees the same list.
 */
const extensionProvider: ReadMember<ExtensionProvider | undefined> = (value, place) =>
  members(value, { ...place, unknown: 'nothing' }, [], (get, has) => {
    if (has('envoyExtAuthzHttp') || has('envoyExtAuthzGrpc')) return undefined;
    const given = [...telemetryKinds].filter(([kind]) => has(kind));
    const read = given.map(([kind, reader]) =>
      get(kind, (inner, innerPlace) => reader(inner, { ...innerPlace, unknown: place.unknown })),
    );
    if (given.length > 1)
      wrong(place, `it is of several kinds: ${given.map(([kind]) => kind).join(', ')}`);
    if (given.length === 0) {
      warn(place, `it has no effect: give one of ${[...telemetryKinds.keys()].join(', ')}`);
      return undefined;
    }
    return { name: get('name', needed), ...(read[0] ?? { type: 'other' }) };
  });

/** Reads all providers but authorizers. Adds the `envoy` of Istio if none has that name. */
export const extensionProviders: ReadMember<readonly ExtensionProvider[]> = (value, place) => {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  const read = entries.flatMap((entry, index) => {
    const entryPlace = below(place, `[${index}]`);
    const provider = isObject(entry) ? extensionProvider(entry, entryPlace) : undefined;
    return provider === undefined ? [] : [{ provider, entryPlace }];
  });
  read.forEach(({ provider: { name }, entryPlace }, index) => {
    if (name !== '' && read.findIndex(({ provider }) => provider.name === name) !== index)
      wrong(below(entryPlace, 'name'), `'${name}' is there twice`);
  });
  const isOwn = ({ name }: ExtensionProvider) => name === ownFileLog.name;
  const providers = read.map(({ provider }) => withMeshFormat(provider));
  return [...(providers.some(isOwn) ? [] : [ownFileLog]), ...providers];
};

/** Gives an `envoy` without a format the format of the MeshConfig. */
function withMeshFormat(provider: ExtensionProvider): ExtensionProvider {
  return provider.type === 'file' &&
    provider.name === ownFileLog.name &&
    provider.format === isDefault &&
    provider.emptyValues === 'kept'
    ? { ...provider, format: ownFileLog.format }
    : provider;
}
