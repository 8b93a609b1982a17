import { readdirSync, readFileSync } from 'node:fs';
import { create, type DescMessage } from '@bufbuild/protobuf';
import { anyPack, AnySchema } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import {
  configDump,
  messageJson,
  printed,
  resourceJson,
} from '../../../../src/pilot-discovery/generate/config-dump.ts';
import { viewer } from '../../../../src/pilot-discovery/generate/view-of.ts';
import { xdsTypes } from '../../../../src/pilot-discovery/push/view.ts';
import { canonical, meshIn, proxyIn, resourceText } from '../../../support/golden.ts';
import { environmentOf } from '../../../support/generated.ts';

const service = resourceText(
  'ServiceEntry',
  'a',
  `
hosts: [a.mesh]
resolution: STATIC
ports: [{ number: 80, name: http, protocol: HTTP }]
endpoints: [{ address: 10.0.0.9 }]`,
);

const viewIn = (metadata: string, mesh = '') =>
  viewer(() => undefined).view(
    { number: 1, environment: environmentOf(service, { mesh: meshIn(mesh) }) },
    proxyIn(metadata),
  );

/**
 * Returns what Envoy reports of a resource beside the resource itself, of which only the name
 * stays.
 */
function outline(value: unknown, inside = ''): unknown {
  if (Array.isArray(value)) return value.map((element: unknown) => outline(element, inside));
  if (typeof value !== 'object' || value === null)
    return inside === 'version_info' ? 'VERSION' : value;
  const fields = value as Readonly<Record<string, unknown>>;
  if (['cluster', 'endpoint_config', 'listener', 'route_config'].includes(inside))
    return fields['name'] ?? fields['cluster_name'];
  return Object.fromEntries(
    Object.entries(fields).map(([name, inner]) => [name, outline(inner, name)]),
  );
}

it('has the form of the config_dump of Envoy', () => {
  const dump = outline(configDump(viewIn('INTERCEPTION_MODE: NONE')));
  expect(stringify(dump, { sortMapEntries: true })).toBe(
    canonical(`
configs:
  - "@type": type.googleapis.com/envoy.admin.v3.ClustersConfigDump
    version_info: VERSION
    dynamic_active_clusters:
      - { version_info: VERSION, cluster: BlackHoleCluster }
      - { version_info: VERSION, cluster: InboundPassthroughCluster }
      - { version_info: VERSION, cluster: PassthroughCluster }
      - { version_info: VERSION, cluster: outbound|80||a.mesh }
  - "@type": type.googleapis.com/envoy.admin.v3.EndpointsConfigDump
    dynamic_endpoint_configs:
      - { version_info: VERSION, endpoint_config: outbound|80||a.mesh }
  - "@type": type.googleapis.com/envoy.admin.v3.ListenersConfigDump
    version_info: VERSION
    dynamic_listeners:
      - { name: 127.0.0.1_80, active_state: { version_info: VERSION, listener: 127.0.0.1_80 } }
  - "@type": type.googleapis.com/envoy.admin.v3.RoutesConfigDump
    dynamic_route_configs:
      - { version_info: VERSION, route_config: "80" }`),
  );
});

it.each(['REDIRECT', 'TPROXY', 'NONE'])('prints all that a proxy with %s has', (mode) => {
  const view = viewIn(`INTERCEPTION_MODE: ${mode}`);
  expect(xdsTypes.map((type) => printed(view, type).map(({ name }) => name))).toEqual(
    xdsTypes.map((type) => [...view[type].resources.keys()]),
  );
});

it('prints the extensions of Envoy with their type and fields', () => {
  const [listener] = printed(viewIn('INTERCEPTION_MODE: TPROXY'), 'listener').filter(
    ({ name }) => name === 'virtualInbound',
  );
  expect(listener?.json['listener_filters']).toContainEqual({
    name: 'envoy.filters.listener.original_src',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.filters.listener.original_src.v3.OriginalSrc',
      mark: 1337,
    },
  });
});

it.each([
  ['lightstep', 'accessToken: sesame'],
  ['opentelemetry', 'grpc: { initialMetadata: [{ name: a, value: sesame }] }'],
  ['opentelemetry', 'http: { headers: [{ name: a, value: sesame }] }'],
])('prints no token of a tracer: %s, %s', (kind, token) => {
  const mesh = `{ defaultProviders: { tracing: [a] }, extensionProviders: [{ name: a, ${kind}: { service: a.mesh, port: 80, ${token} } }] }`;
  const view = viewIn('', mesh);
  // `pilot-discovery diff` prints one resource, `/debug/config_dump` all of them.
  const listeners = [...view.listener.resources.values()].map((each) =>
    resourceJson('listener', each),
  );
  for (const text of [listeners, configDump(view)].map((json) => JSON.stringify(json))) {
    expect(text).toContain('"value":"***"');
    expect(text).not.toContain('sesame');
  }
});

/** Returns the messages of extensions that the generators use as values, with the file of each. */
function usedExtensions(): readonly (readonly [name: string, file: string])[] {
  const folder = 'src/pilot-discovery/generate';
  const names = /(?<!type )\{([^}]*)\} from '[./]*\/(shared\/proto\/envoy\/extensions\/[^']+)'/g;
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(names)])
    .flatMap(([, imported = '', file = '']) =>
      [...imported.matchAll(/(?<!type |as )\b(\w+Schema)\b(?: as|,|\s*$)/g)].map(
        ([, name = '']) => [name, file] as const,
      ),
    );
}

it.each(usedExtensions())('can print %s of %s', async (name, file) => {
  const module = (await import(`../../../../src/${file}`)) as Readonly<Record<string, DescMessage>>;
  const schema = module[name];
  if (schema === undefined) throw new Error(`there is no ${name}`);
  expect(messageJson(AnySchema, anyPack(schema, create(schema)))).toMatchObject({
    '@type': `type.googleapis.com/${schema.typeName}`,
  });
});
