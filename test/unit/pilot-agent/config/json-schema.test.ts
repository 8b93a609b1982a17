import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { schemaPath, schemaText } from '../../../../scripts/schema.ts';
import { fileFlags, readConfigFile } from '../../../../src/pilot-agent/config/config-file.ts';
import type { Flag } from '../../../../src/shared/text/flag.ts';
import { flags } from '../../../../src/pilot-agent/config/flags.ts';
import { problemsOf } from '../../../support/resolved.ts';

/** The written schema as a validator of zod, which does not use our code. */
const written = z.fromJSONSchema(
  JSON.parse(readFileSync(schemaPath, 'utf8')) as Parameters<typeof z.fromJSONSchema>[0],
);
const bySchema = (content: unknown) => written.safeParse(content).success;
const byProgram = (content: unknown) => {
  const file = readConfigFile('a', { ok: true, value: content });
  return problemsOf({ file, env: file.environment }).length === 0;
};
const both = (content: unknown) => [bySchema(content), byProgram(content)];

it('is written as the code is now (npm run schema)', async () => {
  expect(readFileSync(schemaPath, 'utf8')).toBe(await schemaText());
});

it('takes the examples of the page', () => {
  const page = readFileSync('docs/guide/configuration-file.md', 'utf8');
  const examples = [...page.matchAll(/^```yaml\n([^]*?)^```/gm)].map(
    ([, text = '']) => parse(text) as unknown,
  );
  expect(examples.length).toBeGreaterThan(0);
  for (const example of examples) expect(both(example)).toEqual([true, true]);
});

describe('the JSON Schema and the program agree', () => {
  it.each(fileFlags)('that a file can say --%s by its default', (name) => {
    const {
      default: standard,
      value,
      repeated,
      field = name,
    }: Flag = flags[name as keyof typeof flags];
    if (
      standard === '' &&
      !['bool', 'json', 'port'].includes(value) &&
      repeated === undefined &&
      !field.includes('.')
    )
      return;
    const fieldValue =
      repeated === true
        ? []
        : value === 'bool'
          ? standard === 'true'
          : value === 'json'
            ? { address: 'a:1' }
            : standard;
    if (fieldValue !== '') expect(both({ [name]: fieldValue })).toEqual([true, true]);
  });

  const http = { kind: 'http', name: 'h', url: 'https://host/' };
  it.each<[content: object]>([
    [{}],
    [
      {
        $schema: './pilot-agent.schema.json',
        role: 'router',
        statusPort: 0,
        proxyAdminPort: '15000',
      },
    ],
    [
      {
        proxyConfig: {
          tracing: { zipkin: { address: 'z:1' } },
          gatewayTopology: { numTrustedProxies: 2 },
        },
      },
    ],
    [
      {
        environment: {
          CA_ADDR: 'ca:1',
          ISTIO_META_A: 1,
          FILE_MOUNTED_CERTS: true,
          SECRET_TTL: '1h',
        },
      },
    ],
    [
      {
        probers: {
          '/app-health/web/readyz': { httpGet: { port: 80, path: '/' }, timeoutSeconds: 1.5 },
        },
      },
    ],
    [
      {
        sources: [
          http,
          { kind: 'consul', name: 'c', service: 'web' },
          { kind: 'files', name: 'f', paths: ['/a'] },
        ],
      },
    ],
    [
      {
        sources: [
          {
            kind: 'kube',
            name: 'k',
            resource: 'Gateway.networking.istio.io',
            namespace: 'a',
            object: 'b',
            as: 'merge',
            at: 'x',
          },
        ],
      },
    ],
    [{ log_target: 'stderr', log_as_json: true, log_output_level: 'debug' }],
    [
      {
        watch: ['/a'],
        watchKube: ['Secret/a/b'],
        watchConsul: ['kv/a'],
        configUrl: 'https://host',
      },
    ],
  ])('that %j is right', (content) => {
    expect(both(content)).toEqual([true, true]);
  });

  it.each<[content: unknown]>([
    [[]],
    [{ minDelai: '1s' }],
    [{ minDelay: 5 }],
    [{ minDelay: 'soon' }],
    [{ statusPort: 65_536 }],
    [{ role: 'waypoint' }],
    [{ watch: '/a' }],
    [{ watchConsul: ['a'] }],
    [{ configUrl: 'ftp://host' }],
    [{ envoyRestartPolicy: 'never' }],
    [{ applicationPorts: '80' }],
    [{ proxyConfig: { drainDuration: 5 } }],
    [{ proxyConfig: [] }],
    [{ environment: { SECRET_TTLL: '1h' } }],
    [{ environment: { CA_ADDR: [] } }],
    [{ environment: { PROXY_CONFIG: '{}' } }],
    [{ probers: { '/a': {} } }],
    [{ probers: { '/app-health/web/readyz': { httpGet: { port: 'http' } } } }],
    [{ sources: {} }],
    [{ sources: [{ kind: 'ftp', name: 'a' }] }],
    [{ sources: [{ ...http, evry: '1s' }] }],
    [{ sources: [{ kind: 'http', name: 'h' }] }],
    [{ sources: [{ ...http, every: 5 }] }],
    [{ log_target: 3 }],
  ])('that %j is wrong', (content) => {
    expect(both(content)).toEqual([false, false]);
  });
});
