import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { twoSidecarsRig, type TwoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';
import { freePorts } from '../support/free-ports.ts';

/** A request that a collector receives. It contains spans. */
interface Report {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A span in the JSON of Zipkin. */
interface ZipkinSpan {
  readonly kind: string;
  readonly localEndpoint: { readonly serviceName: string };
  readonly tags: Readonly<Record<string, string>>;
}

describe('the spans of a real sidecar', () => {
  const reports: Report[] = [];
  let collector: Server;
  let rig: TwoSidecarsRig;

  beforeAll(async () => {
    collector = createServer((request, response) => {
      const { url: path = '', headers } = request;
      void buffer(request).then((body) => {
        reports.push({ path, headers, body: body.toString('latin1') });
        response.writeHead(path === '/api/v2/spans' ? 202 : 200).end();
      });
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const [port = 0] = await freePorts(1);
    rig = await twoSidecarsRig();
    const mesh = join(dirname(rig.configDir), 'tracing-mesh.yaml');
    const collectorService = { service: 'collector.mesh', port };
    writeFileSync(
      mesh,
      JSON.stringify({
        extensionProviders: [
          { name: 'zipkin', zipkin: collectorService },
          {
            name: 'otel',
            opentelemetry: {
              ...collectorService,
              http: { path: '/v1/traces', headers: [{ name: 'x-token', value: 'sesame' }] },
            },
          },
        ],
      }),
    );
    rig.startDiscovery(['--meshConfig', mesh]);
    rig.write(
      '80-collector.yaml',
      JSON.stringify({
        apiVersion: 'networking.istio.io/v1',
        kind: 'ServiceEntry',
        metadata: { name: 'collector', namespace: 'shop' },
        spec: {
          hosts: ['collector.mesh'],
          exportTo: ['shop'],
          resolution: 'STATIC',
          ports: [
            {
              number: port,
              targetPort: (collector.address() as AddressInfo).port,
              name: 'http',
              protocol: 'HTTP',
            },
          ],
          endpoints: [{ address: '127.0.0.1' }],
        },
      }),
    );
    rig.startAgents();
    await eventually(async () => (await rig.ask()).status === 200);
  });
  afterAll(async () => {
    await rig.dispose();
    collector.closeAllConnections();
    collector.close();
  });

  const trace = (entries: string) => {
    rig.write(
      '90-telemetry.yaml',
      `apiVersion: telemetry.istio.io/v1\nkind: Telemetry\nmetadata: { name: a, namespace: istio-system }\nspec: { tracing: ${entries} }\n`,
    );
  };
  /** Requests a path until the collector has a report about it at `place`. */
  const reportOf = (path: string, place: string) =>
    eventually(async () => {
      await rig.ask(path, { 'x-tenant': 'acme' });
      return reports.find((report) => report.path === place && report.body.includes(path));
    });

  it('go to Zipkin, with tags', async () => {
    trace(
      '[{ providers: [{ name: zipkin }], randomSamplingPercentage: 100, customTags: { tenant: { header: { name: x-tenant } }, place: { literal: { value: here } } } }]',
    );
    const { body } = await reportOf('/zipkin', '/api/v2/spans');
    const span = (JSON.parse(body) as readonly ZipkinSpan[]).find(({ tags }) =>
      tags['http.url']?.endsWith('/zipkin'),
    );
    expect(span).toMatchObject({
      kind: 'CLIENT',
      localEndpoint: { serviceName: 'istio-proxy' },
      tags: { tenant: 'acme', place: 'here', 'istio.namespace': 'shop' },
    });
  });

  it('go to OpenTelemetry over HTTP, with headers', async () => {
    trace('[{ providers: [{ name: otel }], randomSamplingPercentage: 100 }]');
    const { headers, body } = await reportOf('/otel', '/v1/traces');
    expect(headers).toMatchObject({ host: 'collector.mesh', 'x-token': 'sesame' });
    expect(body).toContain('istio-proxy');
  });
});
