import { createServer, Agent, type IncomingHttpHeaders, request, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type TwoSidecarsRig, twoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';

const effective = { interval: 50 };
/**
 * The number of standard deviations by which a share may differ. Chance exceeds 3 in 3 of 1,000
 * runs, so 4 are allowed.
 */
const deviations = 4;

/** An application that sends its name, and records its requests. */
interface Backend {
  readonly port: number;
  readonly requests: { path: string; headers: IncomingHttpHeaders }[];
  /** The status of the next answers. It is 200 at first. */
  status: number;
  readonly server: Server;
}

async function backend(name: string): Promise<Backend> {
  const requests: Backend['requests'] = [];
  const server = createServer({ keepAliveTimeout: 60_000 }, ({ url = '', headers }, response) => {
    requests.push({ path: url, headers });
    const slow = Number(new URLSearchParams(url.split('?')[1]).get('slow') ?? 0);
    setTimeout(() => {
      response.statusCode = application.status;
      response.setHeader('x-backend', name);
      response.end(name);
    }, slow);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const application: Backend = {
    port: (server.address() as AddressInfo).port,
    requests,
    status: 200,
    server,
  };
  return application;
}

describe.each(['delta', 'whole'] as const)(
  'requests through two sidecars that live from pilot-discovery, %s xDS',
  (variant) => {
    let rig: TwoSidecarsRig;
    let [firstBackend, secondBackend]: Backend[] = [];
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });

    beforeAll(async () => {
      [firstBackend, secondBackend] = [await backend('one'), await backend('two')];
      rig = await twoSidecarsRig();
      rig.write(
        '50-back.yaml',
        service('back.mesh', ['one', firstBackend.port], ['two', secondBackend.port]),
      );
      rig.write('51-shadow.yaml', service('shadow.mesh', ['two', secondBackend.port]));
      rig.startDiscovery();
      rig.startAgents(variant);
      await eventually(
        async () => (await to('back.mesh')).status === 200 && (await rig.ask()).status === 200,
      );
    });
    afterAll(async () => {
      agent.destroy();
      await rig.dispose();
      for (const each of [firstBackend, secondBackend]) each?.server.close().closeAllConnections();
    });

    /** Returns a service outside of the mesh with an endpoint for each version. */
    const service = (host: string, ...endpoints: readonly (readonly [string, number])[]) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${host.replace('.', '-')}, namespace: default }
spec:
  hosts: [${host}]
  location: MESH_EXTERNAL
  resolution: STATIC
  exportTo: [shop]
  ports: [{ number: ${rig.ports.service}, name: http, protocol: HTTP }]
  endpoints:
${endpoints.map(([version, port]) => `    - { address: 127.0.0.1, ports: { http: ${port} }, labels: { version: ${version} } }\n`).join('')}`;

    let edit = 0;

    /**
     * Writes the routes of `back.mesh` and the traffic policy of its DestinationRule. Waits until
     * they are in effect.
     */
    async function rules(
      http: string,
      policy = '{ loadBalancer: { simple: LEAST_REQUEST } }',
    ): Promise<void> {
      edit += 1;
      const route = `{ match: [{ uri: { exact: /edit } }], directResponse: { status: 200, body: { string: "${edit}" } } }`;
      rig.write(
        '60-rules.yaml',
        `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: back, namespace: default }
spec: { hosts: [back.mesh], http: [${route}, ${http}] }
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: back, namespace: default }
spec:
  host: back.mesh
  trafficPolicy: ${policy}
  subsets: [{ name: one, labels: { version: one } }, { name: two, labels: { version: two } }]
`,
      );
      await expect
        .poll(async () => (await to('back.mesh', '/edit')).body, effective)
        .toBe(String(edit));
    }
    const toOne = 'route: [{ destination: { host: back.mesh, subset: one } }]';

    interface Told {
      readonly status: number;
      readonly by: string;
      readonly body: string;
      readonly headers: IncomingHttpHeaders;
      readonly ms: number;
    }

    function to(
      host: string,
      path = '/',
      headers: Readonly<Record<string, string>> = {},
    ): Promise<Told> {
      const begun = performance.now();
      return new Promise((done, fail) => {
        const clientRequest = request(
          {
            host: '127.0.0.1',
            port: rig.ports.service,
            path,
            headers: { host, ...headers },
            agent,
          },
          (response) => {
            let body = '';
            response.setEncoding('utf8').on('data', (piece: string) => (body += piece));
            response.on('end', () => {
              const { statusCode = 0, headers: got } = response;
              done({
                status: statusCode,
                by: String(got['x-backend'] ?? ''),
                body,
                headers: got,
                ms: performance.now() - begun,
              });
            });
          },
        );
        clientRequest.on('error', fail).end();
      });
    }

    /** Resolves to the share of `number` requests for which `is` returns true. */
    async function share(number: number, is: (answer: Told) => boolean): Promise<number> {
      let count = 0;
      let left = number;
      const client = async () => {
        while (left-- > 0) if (is(await to('back.mesh'))) count += 1;
      };
      await Promise.all(Array.from({ length: 16 }, client));
      return count / number;
    }

    function near(part: number, expected: number, number: number): void {
      const deviation = Math.sqrt((expected * (1 - expected)) / number);
      expect(Math.abs(part - expected)).toBeLessThan(deviations * deviation);
    }

    it('are divided as the weights are', async () => {
      await rules(
        '{ route: [{ destination: { host: back.mesh, subset: one }, weight: 80 }, { destination: { host: back.mesh, subset: two }, weight: 20 }] }',
      );
      near(await share(10_000, ({ by }) => by === 'two'), 0.2, 10_000);
    });

    it('are aborted and delayed as often as a fault says', async () => {
      await rules(`{ fault: { abort: { httpStatus: 418, percentage: { value: 25 } } }, ${toOne} }`);
      near(await share(10_000, ({ status }) => status === 418), 0.25, 10_000);
      await rules(
        `{ fault: { delay: { fixedDelay: 300ms, percentage: { value: 100 } } }, ${toOne} }`,
      );
      expect((await to('back.mesh')).ms).toBeGreaterThanOrEqual(290);
    });

    it('end with 504 at their timeout', async () => {
      await rules(`{ timeout: 300ms, ${toOne} }`);
      const { status, ms } = await to('back.mesh', '/?slow=1500');
      expect(status).toBe(504);
      expect(ms).toBeGreaterThanOrEqual(290);
      expect(ms).toBeLessThan(1_400);
      expect(await to('back.mesh', '/?slow=10')).toMatchObject({ status: 200 });
    });

    it('are retried as often as is said, and no more', async () => {
      if (firstBackend === undefined) throw new Error('there is no backend');
      await rules(
        `{ match: [{ uri: { prefix: /retried } }], retries: { attempts: 3, retryOn: 5xx, backoff: 10ms }, ${toOne} }, { match: [{ uri: { prefix: /once } }], retries: { attempts: 0 }, ${toOne} }, { route: [{ destination: { host: back.mesh, subset: two } }] }`,
      );
      firstBackend.status = 503;
      expect(await to('back.mesh', '/retried')).toMatchObject({ status: 503 });
      expect(await to('back.mesh', '/once')).toMatchObject({ status: 503 });
      firstBackend.status = 200;
      const times = (path: string) =>
        firstBackend?.requests.filter((each) => each.path === path).length;
      expect([times('/retried'), times('/once')]).toEqual([4, 1]);
    });

    it('are mirrored, and the answer of the mirror is thrown away', async () => {
      await rules(
        `{ match: [{ uri: { prefix: /mirrored } }], mirrors: [{ destination: { host: shadow.mesh }, percentage: { value: 100 } }], ${toOne} }`,
      );
      for (let time = 0; time < 10; time += 1)
        expect(await to('back.mesh', '/mirrored?10')).toMatchObject({ by: 'one' });
      const mirrored = () =>
        secondBackend?.requests
          .filter(({ path }) => path === '/mirrored?10')
          .map(({ headers }) => headers.host);
      await expect
        .poll(mirrored, effective)
        .toEqual(Array.from({ length: 10 }, () => 'back.mesh-shadow'));
    });

    it('of another origin are answered as the CORS policy says', async () => {
      await rules(
        `{ corsPolicy: { allowOrigins: [{ exact: "https://good.example" }], allowMethods: [PUT], maxAge: 60s }, ${toOne} }`,
      );
      const asks = (origin: string) => to('back.mesh', '/', { origin });
      expect((await asks('https://good.example')).headers['access-control-allow-origin']).toBe(
        'https://good.example',
      );
      expect(
        (await asks('https://bad.example')).headers['access-control-allow-origin'],
      ).toBeUndefined();
    });

    it('with the same header go to the same endpoint', async () => {
      await rules(
        '{ route: [{ destination: { host: back.mesh } }] }',
        '{ loadBalancer: { consistentHash: { httpHeaderName: x-user } } }',
      );
      const backendOf = async (user: string) => (await to('back.mesh', '/', { 'x-user': user })).by;
      const users = Array.from({ length: 40 }, (_, user) => `user-${user}`);
      const sticky = async () => {
        const first = await Promise.all(users.map(backendOf));
        const again = [
          await Promise.all(users.map(backendOf)),
          await Promise.all(users.map(backendOf)),
        ];
        return again.every((each) => each.join() === first.join()) && new Set(first).size === 2;
      };
      await expect.poll(sticky, effective).toBe(true);
    });

    it('leave an endpoint that fails, and come back to it', async () => {
      if (secondBackend === undefined) throw new Error('there is no backend');
      await rules(
        '{ retries: { attempts: 0 }, route: [{ destination: { host: back.mesh } }] }',
        '{ loadBalancer: { simple: ROUND_ROBIN }, outlierDetection: { consecutive5xxErrors: 3, interval: 200ms, baseEjectionTime: 2s, maxEjectionPercent: 50 } }',
      );
      const both = async () =>
        new Set(
          await Promise.all(Array.from({ length: 20 }, async () => (await to('back.mesh')).by)),
        );
      await expect.poll(both, effective).toEqual(new Set(['one', 'two']));
      secondBackend.status = 503;
      await expect.poll(both, { interval: 50 }).toEqual(new Set(['one']));
      secondBackend.status = 200;
      await expect.poll(both, { interval: 100 }).toEqual(new Set(['one', 'two']));
    });

    describe('into the sidecar of a workload', () => {
      const mode = (name: string) =>
        rig.write(
          '30-mtls.yaml',
          `apiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: { name: default, namespace: default }\nspec: { mtls: { mode: ${name} } }\n`,
        );
      const identity = () =>
        firstBackend?.requests.filter(({ path }) => path === '/who').at(-1)?.headers[
          'x-forwarded-client-cert'
        ];

      beforeAll(() => {
        const ingress = rig
          .read('20-sidecar.yaml')
          .replace(/defaultEndpoint: .*/, `defaultEndpoint: 127.0.0.1:${firstBackend?.port}`);
        rig.write('20-sidecar.yaml', ingress);
        rig.write(
          '40-route.yaml',
          rig
            .read('40-route.yaml')
            .replace('weight: 90', 'weight: 100')
            .replace('weight: 10 ', 'weight: 0 '),
        );
      });

      it('STRICT: only with a certificate, and the application is told whose', async () => {
        await expect
          .poll(() => rig.ask('/who'), effective)
          .toMatchObject({ status: 200, body: 'one' });
        expect(String(identity())).toContain('URI=spiffe://cluster.local/ns/shop/sa/client');
        expect(String(identity())).toContain('By=spiffe://cluster.local/ns/default/sa/echo');
        expect(await rig.askPlain()).toMatchObject({ status: 0 });
      });

      it('PERMISSIVE: with a certificate, and without one', async () => {
        mode('PERMISSIVE');
        await expect
          .poll(() => rig.askPlain(), effective)
          .toMatchObject({ status: 200, body: 'one' });
        await expect.poll(() => rig.ask('/who'), effective).toMatchObject({ status: 200 });
        expect(String(identity())).toContain('URI=spiffe://cluster.local/ns/shop/sa/client');
      });

      it('DISABLE: plain, from sidecars too', async () => {
        mode('DISABLE');
        await expect
          .poll(
            async () => ((await rig.ask('/who')).status === 200 ? identity() : 'failed'),
            effective,
          )
          .toBeUndefined();
        expect(await rig.askPlain()).toMatchObject({ status: 200, body: 'one' });
      });
    });
  },
);
