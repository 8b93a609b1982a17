import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { boundedDiff, shownAtMost } from '../../../../src/pilot-discovery/diff/bounded-diff.ts';
import {
  type ComparedProxy,
  describedProxies,
} from '../../../../src/pilot-discovery/diff/described-proxies.ts';
import { meshDiff } from '../../../../src/pilot-discovery/diff/mesh-diff.ts';
import { meshPair } from '../../../../src/pilot-discovery/diff/mesh-pair.ts';
import { namedProxy } from '../../../../src/pilot-discovery/diff/named-proxy.ts';
import { diffJson, diffText } from '../../../../src/pilot-discovery/diff/show-diff.ts';
import { buildEnvironment } from '../../../../src/pilot-discovery/environment/build-environment.ts';
import { noChanges } from '../../../../src/pilot-discovery/environment/changes.ts';
import {
  emptyStore,
  reduceStore,
  type Store,
} from '../../../../src/pilot-discovery/environment/store.ts';
import { viewer } from '../../../../src/pilot-discovery/generate/view-of.ts';
import { readResources } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { type View, type XdsType, xdsTypes } from '../../../../src/pilot-discovery/push/view.ts';
import { growthRatio } from '../../../support/growth-ratio.ts';
import { meshOfServices } from '../../../support/mesh-of-services.ts';
import { pushedTo } from '../../../support/pushed-to.ts';

const settings = { domain: 'cluster.local', gatewayClusters: 'reached' } as const;
const fetchedKeys = new Map<string, string>();

function storeOf(...texts: readonly string[]): Store {
  const place = { source: 'files', path: 'mesh.yaml', defaultNamespace: 'default' };
  const upserts = texts.flatMap((yaml) => readResources(yaml, place).resources);
  const event = { type: 'changed', source: 'files', upserts, removes: [] } as const;
  return { ...reduceStore(emptyStore(['files']), event)[0], fetchedKeys };
}

const pairOf = (before: string, after: string) =>
  meshPair(storeOf(before), storeOf(after), settings);

/** Returns the diff of two texts for the proxies that they describe, and for those of the ids. */
function diffOf(before: string, after: string, ...ids: readonly string[]) {
  const pair = pairOf(before, after);
  const named = ids.map(namedProxy).filter((proxy) => typeof proxy !== 'string');
  return boundedDiff(meshDiff(pair, [...describedProxies(pair, settings.domain), ...named]));
}

const textOf = (...texts: Parameters<typeof diffOf>) => diffText(diffOf(...texts));

const reviews = (endpoints: string) => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: reviews, namespace: shop }
spec:
  hosts: [reviews.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{ number: 80, name: http, protocol: HTTP }]
  endpoints: [${endpoints}]
---`;
const timeout = (value: string) => `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: reviews, namespace: shop }
spec:
  hosts: [reviews.mesh]
  http: [{ timeout: ${value}, route: [{ destination: { host: reviews.mesh } }] }]
---`;
const gateway = (namespace: string) => `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: front, namespace: ${namespace} }
spec:
  selector: { istio: ingress }
  servers: [{ port: { number: 80, name: http, protocol: HTTP }, hosts: ["*.shop.test"] }]
---`;
const machine = (name: string, address: string, labels: string) => `
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: { name: ${name}, namespace: shop }
spec: { address: ${address}, labels: { ${labels} } }
---`;
const two = '{ address: 10.0.0.1 }, { address: 10.0.0.2 }';

describe('meshDiff', () => {
  it('says which resources change for which proxies, and where', () => {
    expect(textOf(reviews(two) + timeout('1s'), reviews(two) + timeout('2s'))).toBe(
      `reviews-0.shop, reviews-1.shop: 1 route
  route  changed  80
      ~ virtual_hosts["reviews.mesh:80"].routes[0].route.timeout: "1s" → "2s"
      ~ virtual_hosts["reviews.mesh:80"].routes[0].route.max_grpc_timeout: "1s" → "2s"

Something changes for 2 of 2 proxies.
`,
    );
  });

  it('says of a workload that one folder does not have what its proxy gets then', () => {
    expect(textOf('', reviews('{ address: 10.0.0.1 }'))).toMatch(
      new RegExp(
        `^reviews-0\\.shop \\(only in NEW\\): 2 clusters, 1 endpoint, 2 listeners, 1 route
  cluster   added    inbound\\|80\\|\\|
  cluster   added    outbound\\|80\\|\\|reviews\\.mesh
  endpoint  added    outbound\\|80\\|\\|reviews\\.mesh
  listener  added    0\\.0\\.0\\.0_80
  listener  changed  virtualInbound
(?:      .*\\n)+  route     added    80\\n`,
      ),
    );
    expect(textOf(reviews('{ address: 10.0.0.1 }'), '')).toMatch(
      /^reviews-0\.shop \(only in OLD\): 2 clusters/,
    );
  });

  it('compares a proxy that the user names', () => {
    const id = 'sidecar~10.0.0.9~app.other~other.svc.cluster.local';
    const text = textOf(reviews('') + timeout('1s'), reviews('') + timeout('2s'), id);
    expect(text).toMatch(/^app\.other: 1 route\n/);
  });

  it('is the same as JSON', () => {
    const diff = diffOf(reviews(two) + timeout('1s'), reviews(two) + timeout('2s'));
    expect(JSON.parse(diffJson(diff))).toEqual({
      compared: 2,
      changed: 2,
      groups: [
        {
          proxies: [0, 1].map((index) => ({
            name: `reviews-${index}.shop`,
            id: `sidecar~10.0.0.${index + 1}~reviews-${index}.shop~shop.svc.cluster.local`,
            presence: 'both',
          })),
          moreProxies: 0,
          counts: { cluster: 0, endpoint: 0, listener: 0, route: 1 },
          resources: [
            {
              type: 'route',
              name: '80',
              change: 'changed',
              paths: ['timeout', 'max_grpc_timeout'].map((field) => ({
                kind: 'changed',
                path: `virtual_hosts["reviews.mesh:80"].routes[0].route.${field}`,
                before: '"1s"',
                after: '"2s"',
              })),
              morePaths: 0,
            },
          ],
          moreResources: 0,
        },
      ],
      moreGroups: 0,
    });
  });

  it('bounds everything that it shows, and counts the rest', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => index);
    const services = many(shownAtMost.resources + 5)
      .map((index) => reviews('').replaceAll('reviews', `s${index}`))
      .join('');
    const machines = many(shownAtMost.groups + 5)
      .map((index) => reviews(`{ address: 10.1.0.${index} }`).replaceAll('reviews', `m${index}`))
      .join('');
    const { groups, moreGroups } = diffOf('', services + machines);
    expect([groups.length, moreGroups]).toEqual([shownAtMost.groups, 5]);
    const [{ resources, moreResources, counts } = undefined as never] = groups;
    const sum = Object.values(counts).reduce((total, count) => total + count, 0);
    expect([resources.length, moreResources]).toEqual([
      shownAtMost.resources,
      sum - shownAtMost.resources,
    ]);
    const text = diffText({ compared: 60, changed: 55, groups: [], moreGroups: 5 });
    expect(text).toBe('… and 5 more groups\nSomething changes for 55 of 60 proxies.\n');
  });

  it('bounds the paths, the values and the proxies of a group', () => {
    const [few, all] = [1, shownAtMost.paths + 5].map((count) =>
      reviews(
        Array.from({ length: count }, (_, index) => `{ address: 10.1.0.${index} }`).join(', '),
      ),
    );
    const id = (index: number) => `sidecar~10.9.0.1~app-${index}.other~other.svc.cluster.local`;
    const ids = Array.from({ length: shownAtMost.proxies + 2 }, (_, index) => id(index));
    const { groups } = diffOf(few ?? '', all ?? '', ...ids);
    const [group] = groups.filter(({ moreProxies }) => moreProxies > 0);
    expect(group).toMatchObject({ moreProxies: 3, counts: { endpoint: 1 } });
    expect(group?.resources).toMatchObject([{ morePaths: 5 }]);
    const values = group?.resources.flatMap(({ paths }) =>
      paths.map((path) => ('after' in path ? path.after.length : 0)),
    );
    expect(Math.max(...(values ?? []))).toBeLessThanOrEqual(shownAtMost.text + 1);
    expect(
      diffText({ compared: 52, changed: 52, groups: groups.slice(0, 1), moreGroups: 0 }),
    ).toMatch(/^app-0\.other, app-1\.other, app-10\.other and 50 more proxies: 1 endpoint\n/);
  });
});

describe('describedProxies', () => {
  const idsIn = (before: string, after = before) =>
    describedProxies(pairOf(before, after), 'cluster.local').map(
      ({ node, presence }) => `${node.id} ${presence}`,
    );

  it('finds machines, endpoints inside the mesh, and none without an IP address', () => {
    const outside = reviews('{ address: 10.0.0.7 }').replace('MESH_INTERNAL', 'MESH_EXTERNAL');
    const yaml = machine('a', '10.0.0.1', 'app: a') + machine('b', 'b.test', 'app: b') + outside;
    expect(idsIn(yaml)).toEqual(['sidecar~10.0.0.1~a.shop~shop.svc.cluster.local both']);
    expect(idsIn(machine('a', '10.0.0.1', 'app: a') + reviews(two))).toEqual([
      'sidecar~10.0.0.1~a.shop~shop.svc.cluster.local both',
      'sidecar~10.0.0.2~reviews-1.shop~shop.svc.cluster.local both',
    ]);
  });

  it('finds Pods with their account', () => {
    const pod = `
apiVersion: v1
kind: Pod
metadata: { name: a.b, namespace: shop, labels: { app: a } }
spec: { serviceAccountName: clerk, containers: [] }
status: { phase: Running, podIP: 10.0.0.5, podIPs: [{ ip: 10.0.0.5 }, { ip: "fd00::5" }] }
`;
    const [proxy] = describedProxies(pairOf(pod, pod), 'cluster.local');
    expect(proxy?.node).toMatchObject({
      id: 'sidecar~10.0.0.5~a-b.shop~shop.svc.cluster.local',
      addresses: ['10.0.0.5', 'fd00::5'],
      labels: { app: 'a' },
      serviceAccount: 'clerk',
    });
  });

  it('makes a router of what a Gateway selects; if it selects nothing, of its selector', () => {
    const selected = machine('edge', '10.0.0.1', 'istio: ingress, more: x');
    expect(idsIn(gateway('one') + selected)).toEqual([
      'router~10.0.0.1~edge.shop~shop.svc.cluster.local both',
    ]);
    const id = 'router~0.0.0.0~front.one~one.svc.cluster.local';
    expect(idsIn(gateway('one') + gateway('two'))).toEqual([`${id} both`]);
    expect(idsIn('', gateway('one'))).toEqual([`${id} new`]);
    expect(idsIn(gateway('one'), '')).toEqual([`${id} old`]);
  });

  it('has no proxy for a Gateway of all routers', () => {
    expect(idsIn(gateway('one').replace('{ istio: ingress }', '{}'))).toEqual([]);
  });
});

describe('namedProxy', () => {
  it('reads the id of a node, and labels', () => {
    const id = 'router~10.0.0.1~app.shop~shop.svc.cluster.local';
    expect(namedProxy(`${id},app=a,version=,constructor=c`)).toMatchObject({
      node: { id, role: 'router', namespace: 'shop', labels: { app: 'a', version: '' } },
      presence: 'named',
    });
  });

  it.each([
    ['app.shop', "the node id 'app.shop' is not role~address~name.namespace~domain"],
    ['sidecar~1.1.1.1~a.b~c,app', "'app' is not NAME=VALUE"],
    ['sidecar~1.1.1.1~a.b~c,=x', "'=x' is not NAME=VALUE"],
  ])('says what is wrong with %s', (text, reason) => {
    expect(namedProxy(text)).toBe(reason);
  });
});

const folders = ['folders', 'gateways'].flatMap((name) =>
  readdirSync(join('test/differential', name)).map((file) => join('test/differential', name, file)),
);
const meshes = folders.map((path) => readFileSync(path, 'utf8'));

describe('a diff of the meshes of test/differential', () => {
  it.each(folders)('with itself is empty: %s', (path) => {
    const [yaml, again] = [readFileSync(path, 'utf8'), readFileSync(path, 'utf8')];
    const id = 'sidecar~10.0.0.99~app.default~default.svc.cluster.local';
    expect(diffOf(yaml, again, id)).toMatchObject({ changed: 0, groups: [], moreGroups: 0 });
  });

  const viewIn = (yaml: string, { node }: ComparedProxy): View => {
    const { domain, gatewayClusters } = settings;
    const store = storeOf(yaml);
    const environment = buildEnvironment(undefined, store, noChanges, domain, gatewayClusters);
    return viewer(() => undefined).view({ number: 1, environment }, node);
  };

  it.each(folders.map((path, index) => [path, index] as const))(
    'with the next one names what a connected proxy is pushed: %s',
    (_, index) => {
      const [before = '', after = ''] = [meshes[index], meshes[(index + 1) % meshes.length]];
      const pair = pairOf(before, after);
      const proxies = describedProxies(pair, settings.domain).slice(0, 4);
      const { groups } = meshDiff(pair, proxies);
      for (const proxy of proxies) {
        const group = groups.find((candidate) => candidate.proxies.includes(proxy));
        const [old, now] = [viewIn(before, proxy), viewIn(after, proxy)];
        // Envoy drops endpoints with their cluster, and routes with their listener, without a push.
        const isPushed = (type: XdsType, name: string) =>
          type === 'cluster' || type === 'listener' || now[type].resources.has(name);
        const claims = xdsTypes.flatMap((type) =>
          (group?.changes.find((change) => change.type === type)?.names ?? [])
            .filter((name) => isPushed(type, name))
            .map((name) => `${type} ${name}`),
        );
        const pushed = pushedTo(old, now)
          .filter(({ type, name }) => isPushed(type, name))
          .map(({ type, name }) => `${type} ${name}`);
        expect(claims.toSorted()).toEqual(pushed.toSorted());
      }
    },
  );
});

it('a diff of a rule for 5 proxies takes 10 times as long for 10 times as many services, 20 at most', () => {
  const rule = (value: string) =>
    reviews('{ address: 10.0.0.1 }').replace('number: 80', 'number: 81') + timeout(value);
  const compared = (count: number) => {
    const mesh = meshOfServices(count);
    const [before, after] = [storeOf(rule('1s'), ...mesh), storeOf(rule('2s'), ...mesh)];
    return () => {
      const pair = meshPair(before, after, settings);
      const proxies = describedProxies(pair, settings.domain).slice(0, 5);
      const { groups } = meshDiff(pair, proxies);
      expect(groups.map(({ changes }) => changes.map(({ type }) => type))).toEqual([['route']]);
      expect(groups[0]?.proxies).toHaveLength(proxies.length);
    };
  };
  expect(growthRatio(compared(20), compared(200), 20)).toBeLessThan(20);
});

it('a diff of a policy takes 10 times as long for 10 times as many services and proxies, 20 at most', () => {
  const compared = (count: number) => {
    const [first = '', ...others] = meshOfServices(count);
    const changed = first.replace('namespaces: [ns0]', 'namespaces: [ns0, ns1]');
    const [before, after] = [storeOf(first, ...others), storeOf(changed, ...others)];
    return () => {
      const pair = meshPair(before, after, settings);
      const proxies = describedProxies(pair, settings.domain);
      const { groups } = meshDiff(pair, proxies);
      expect([proxies.length, groups.length]).toEqual([count, 1]);
    };
  };
  expect(growthRatio(compared(10), compared(100), 20)).toBeLessThan(20);
});
