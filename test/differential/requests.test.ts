import { request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/ask.ts';
import { controlPlane } from '../support/control-plane.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { leftOut } from '../support/left-out.ts';
import { backend, withEnvoy, withIstiod, withPilotDiscovery } from './one-envoy.ts';

if (controlPlane === undefined) leftOut('500 requests through a real istiod', 'a program');

function resources(port: number, [firstPort = 0, secondPort = 0]: readonly number[]): string {
  const entry = (name: string, v1: number, v2: number) => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: default }
spec:
  hosts: [${name}.mesh]
  addresses: [127.0.0.1]
  location: MESH_EXTERNAL
  resolution: STATIC
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1, ports: { http: ${v1} }, labels: { version: v1 } }, { address: 127.0.0.1, ports: { http: ${v2} }, labels: { version: v2 } }]
---
`;
  return `${entry('a', firstPort, secondPort)}${entry('b', secondPort, secondPort)}apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: a, namespace: default }
spec: { host: a.mesh, subsets: [{ name: v1, labels: { version: v1 } }, { name: v2, labels: { version: v2 } }] }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: a, namespace: default }
spec:
  hosts: [a.mesh]
  http:
    - { match: [{ uri: { exact: /exact } }], directResponse: { status: 418, body: { string: tea } } }
    - { match: [{ uri: { prefix: /moved } }], redirect: { uri: /new, authority: b.mesh, redirectCode: 302 } }
    - { match: [{ uri: { prefix: /slash/ } }], redirect: { scheme: https, redirectCode: 308 } }
    - { match: [{ uri: { prefix: /rw/ } }], rewrite: { uri: /, authority: w.mesh }, route: [{ destination: { host: b.mesh } }] }
    - { match: [{ uri: { regex: '/item/[0-9]+' } }], rewrite: { uriRegexRewrite: { match: '/item/([0-9]+)', rewrite: '/i-\\1' } }, route: [{ destination: { host: a.mesh, subset: v2 } }] }
    - { match: [{ method: { exact: DELETE } }], fault: { abort: { httpStatus: 405, percentage: { value: 100 } } }, route: [{ destination: { host: a.mesh, subset: v1 } }] }
    - { match: [{ headers: { x-user: { prefix: adm } }, queryParams: { debug: { exact: '1' } } }], route: [{ destination: { host: a.mesh, subset: v2 }, headers: { request: { set: { x-route: admin }, remove: [x-user] }, response: { add: { x-told: admin } } } }] }
    - { match: [{ headers: { x-user: { regex: '[a-c]+' } }, withoutHeaders: { x-block: {} } }], headers: { request: { add: { x-route: some } } }, route: [{ destination: { host: a.mesh, subset: v1 } }] }
    - { match: [{ uri: { prefix: /CASE }, ignoreUriCase: true }], route: [{ destination: { host: b.mesh } }], timeout: 5s }
    - { match: [{ uri: { prefix: /cors } }], corsPolicy: { allowOrigins: [{ exact: https://x.com }], allowMethods: [GET, PUT], allowHeaders: [x-a], maxAge: 60s }, route: [{ destination: { host: a.mesh, subset: v1 } }] }
    - { match: [{ uri: { prefix: /gone } }], route: [{ destination: { host: a.mesh, subset: none } }] }
    - { route: [{ destination: { host: a.mesh, subset: v1 } }] }
`;
}

interface Question {
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

const question: fc.Arbitrary<Question> = fc.record({
  host: fc.constantFrom('a.mesh', 'a.mesh', 'a.mesh', 'b.mesh', 'A.mesh'),
  method: fc.constantFrom('GET', 'GET', 'GET', 'POST', 'DELETE', 'OPTIONS'),
  path: fc
    .tuple(
      fc.constantFrom(
        '/',
        '/exact',
        '/exact/',
        '/moved',
        '/moved/x',
        '/slash/y',
        '/slash',
        '/rw/z',
        '/rw',
        '/item/12',
        '/item/x',
        '/case',
        '/Case/q',
        '/cors',
        '/gone',
        '/other',
      ),
      fc.constantFrom('', '', '?debug=1', '?debug=2', '?a=b&debug=1'),
    )
    .map((parts) => parts.join('')),
  headers: fc
    .record({
      'x-user': fc.constantFrom('', 'admin', 'abc', 'xyz'),
      'x-block': fc.constantFrom('', '', '1'),
      origin: fc.constantFrom('', 'https://x.com', 'https://y.com'),
      'access-control-request-method': fc.constantFrom('', 'PUT'),
    })
    .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))),
});

/** Resolves to status, headers and body, without what differs from one request to the next. */
function answerTo(port: number, { host, method, path, headers }: Question): Promise<unknown> {
  return new Promise((done, fail) => {
    const clientRequest = request(
      { host: '127.0.0.1', port, method, path, headers: { ...headers, host }, agent: false },
      (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
        response.on('end', () => {
          const { date, 'x-envoy-upstream-service-time': time, ...rest } = response.headers;
          done({
            status: response.statusCode,
            hasDate: date !== undefined,
            isTimed: time !== undefined,
            headers: rest,
            body: body.startsWith('{') ? (JSON.parse(body) as unknown) : body,
          });
        });
      },
    );
    clientRequest.on('error', fail).end();
  });
}

describe.skipIf(controlPlane === undefined)('an Envoy that lives from pilot-discovery', () => {
  const backends: Server[] = [];
  let [service, admin, xds, http, monitoring] = [0, 0, 0, 0, 0];

  beforeAll(async () => {
    backends.push(await backend('one'), await backend('two'));
    // A real istiod has the two ports after its own.
    [service = 0, admin = 0, xds = 0, http = 0, monitoring = 0] = await freePorts(5);
  });
  afterAll(() => {
    for (const server of backends) server.close().closeAllConnections();
  });

  /** Resolves to the answers of an Envoy to the questions. */
  const answers = (questions: readonly Question[]): Promise<readonly unknown[]> =>
    withEnvoy(xds, admin, async () => {
      await eventually(async () => (await ask(service, '/', { host: 'a.mesh' })).status === 200);
      const all: unknown[] = [];
      for (const drawn of questions) all.push(await answerTo(service, drawn));
      return all;
    });

  it('answers 500 requests as one that lives from istiod: status, backend, headers', async () => {
    const questions = fc.sample(question, { numRuns: 500, seed: 1 });
    const ports = backends.map((server) => (server.address() as AddressInfo).port);
    const yaml = resources(service, ports);
    const ours = await withPilotDiscovery(yaml, [xds, http, monitoring], () => answers(questions));
    const theirs = await withIstiod(controlPlane ?? '', yaml, xds, () => answers(questions));
    const differing = questions.flatMap((drawn, index) => {
      const [mine, other] = [JSON.stringify(ours[index]), JSON.stringify(theirs[index])];
      return mine === other ? [] : [{ question: drawn, ours: mine, istiod: other }];
    });
    expect(differing).toEqual([]);
    const statuses = new Set(ours.map((answer) => (answer as { readonly status: number }).status));
    expect([...statuses].sort()).toEqual(expect.arrayContaining([200, 302, 308, 405, 418, 503]));
  });
});
