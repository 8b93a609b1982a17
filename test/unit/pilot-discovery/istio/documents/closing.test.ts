import { describe, expect, it } from 'vitest';
import { gatewayListeners } from '../../../../../src/pilot-discovery/generate/listeners/gateway-listeners.ts';
import { inboundListeners } from '../../../../../src/pilot-discovery/generate/listeners/inbound-listeners.ts';
import { gatewayRoutes } from '../../../../../src/pilot-discovery/generate/routes/gateway-routes.ts';
import { visibleServices } from '../../../../../src/pilot-discovery/generate/scope/visible-services.ts';
import { outboundClusters } from '../../../../../src/pilot-discovery/generate/clusters/outbound-clusters.ts';
import type { Flaw } from '../../../../../src/pilot-discovery/istio/documents/model.ts';
import { readResourcesInSteps } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { typeUrls } from '../../../../../src/pilot-discovery/push/view.ts';
import {
  digestOf,
  type FileContent,
  readFileContent,
} from '../../../../../src/pilot-discovery/registry/files/file-content.ts';
import {
  noWinners,
  type Winners,
  withFiles,
} from '../../../../../src/pilot-discovery/registry/files/winners.ts';
import { buildEnvironment } from '../../../../../src/pilot-discovery/environment/build-environment.ts';
import type { Environment } from '../../../../../src/pilot-discovery/environment/environment.ts';
import { atOnce } from '../../../../../src/shared/text/steps.ts';
import { emptyStore, reduceStore } from '../../../../../src/pilot-discovery/environment/store.ts';
import { published } from '../../../../support/envoy-api.ts';
import { proxyAt } from '../../../../support/generated.ts';

const place = { source: 'files', path: 'f.yaml', defaultNamespace: 'default' };

/**
 * Writes texts to a file, one after the other; returns the environment and the flaws of its folder.
 */
function written(...texts: readonly string[]): {
  readonly environment: Environment;
  readonly flaws: readonly Flaw[];
} {
  let [before, winners]: [FileContent | undefined, Winners] = [undefined, noWinners];
  for (const text of texts) {
    const reading = readFileContent(
      before,
      Buffer.from(text),
      digestOf(Buffer.from(text)),
      place,
      readResourcesInSteps,
    );
    const after = atOnce(reading);
    winners = withFiles(winners, [{ before, after }]);
    before = after;
  }
  const upserts = [...winners.resources.values()];
  const [store, changes] = reduceStore(emptyStore(['files']), {
    type: 'changed',
    source: 'files',
    upserts,
    removes: [],
  });
  return {
    environment: buildEnvironment(undefined, store, changes, 'cluster.local', 'reached'),
    flaws: [...winners.flaws.values()].flat(),
  };
}

const services = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: app, namespace: default }
spec:
  hosts: [app.mesh]
  ports: [{ number: 80, name: http, protocol: HTTP, targetPort: 8080 }, { number: 90, name: tcp, protocol: TCP, targetPort: 9090 }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
---`;
const policy = (
  kind: string,
  spec: string,
  metadata = 'name: a, namespace: default',
) => `${services}
apiVersion: security.istio.io/v1
kind: ${kind}
metadata: { ${metadata} }
spec: ${spec}
`;

interface Chain {
  readonly filter_chain_match?: { readonly destination_port?: { readonly value: number } };
  readonly filters: readonly { readonly typed_config: { readonly cluster?: string } }[];
}

/** Returns the ports that are closed for a workload with these labels: `8080`, `9090`, `others`. */
function closed(
  { environment }: { readonly environment: Environment },
  labels = { app: 'app' },
  namespace = 'default',
): string {
  const [listener] = inboundListeners(environment, proxyAt({ labels, namespace }));
  const { filter_chains: chains } = published(
    typeUrls.listener,
    listener?.body ?? new Uint8Array(),
  ) as { filter_chains: readonly Chain[] };
  const ports = chains
    .filter(({ filters }) => filters[0]?.typed_config.cluster === 'BlackHoleCluster')
    .map(({ filter_chain_match: match }) => match?.destination_port?.value ?? 'others')
    .filter((port) => port !== 15_006);
  const open = chains.filter(
    ({ filters }) => filters[0]?.typed_config.cluster !== 'BlackHoleCluster',
  );
  expect(
    open.filter(({ filter_chain_match: match }) =>
      ports.includes(match?.destination_port?.value ?? 'others'),
    ),
  ).toEqual([]);
  return ports.sort().join(', ');
}

const all = '8080, 9090, others';

describe('a policy that is refused and was never right', () => {
  it.each([
    ['PeerAuthentication', '{ newer: 1, mtls: { mode: STRICT } }', all],
    ['PeerAuthentication', '{ mtls: { mode: STRICT, newer: 1 } }', all],
    ['PeerAuthentication', '{ mtls: { mode: STRICTT } }', all],
    [
      'PeerAuthentication',
      '{ selector: { matchLabels: { app: app } }, mtls: { mode: STRICTT } }',
      all,
    ],
    [
      'PeerAuthentication',
      '{ selector: { matchLabels: { app: other } }, mtls: { mode: STRICTT } }',
      '',
    ],
    ['PeerAuthentication', '{ selector: { matchLabels: { app: other } }, newer: 1 }', ''],
    [
      'PeerAuthentication',
      '{ selector: { matchLabel: { app: other } }, mtls: { mode: STRICT } }',
      all,
    ],
    [
      'PeerAuthentication',
      '{ selector: { matchLabels: { app: app } }, portLevelMtls: { 8080: { mode: STRICTT } } }',
      '8080',
    ],
    [
      'PeerAuthentication',
      '{ selector: { matchLabels: { app: app } }, mtls: { mode: NO }, portLevelMtls: { 8080: { mode: STRICT } } }',
      '9090, others',
    ],
    [
      'PeerAuthentication',
      '{ selector: { matchLabels: { app: app } }, portLevelMtls: { 80800: { mode: STRICT } } }',
      all,
    ],
    ['PeerAuthentication', '[]', all],
    ['AuthorizationPolicy', '{ newer: 1 }', all],
    ['AuthorizationPolicy', '{ action: AUDIT, newer: 1 }', all],
    ['AuthorizationPolicy', '{ selector: { matchLabels: { app: other } }, action: DENI }', ''],
    [
      'AuthorizationPolicy',
      '{ action: DENY, rules: [{ to: [{ operation: { ports: ["8080"], newer: 1 } }] }] }',
      all,
    ],
    [
      'AuthorizationPolicy',
      '{ action: DENY, rules: [{ to: [{ operation: { ports: ["http"] } }] }] }',
      all,
    ],
    ['RequestAuthentication', '{ jwtRules: [{ issuer: a, newer: 1 }] }', all],
  ])('%s %s closes what it covers', (kind, spec, ports) => {
    const outcome = written(policy(kind, spec));
    expect(closed(outcome)).toBe(ports);
    expect(closed(outcome, { app: 'app' }, 'elsewhere')).toBe('');
    const consequence =
      'it has no good version: connections to the ports that its errors affect are refused';
    expect(outcome.flaws).toContainEqual(
      expect.objectContaining({ key: `${kind}/default/a`, severity: 'error', reason: consequence }),
    );
  });

  it.each(['PeerAuthentication', 'AuthorizationPolicy', 'RequestAuthentication'])(
    '%s closes all of the mesh in the root namespace',
    (kind) => {
      expect(
        closed(
          written(policy(kind, '{ newer: 1 }', 'name: a, namespace: istio-system')),
          {} as never,
          'elsewhere',
        ),
      ).toBe('others');
    },
  );

  it.each(['', 'namespace: default', 'name: a, newer: 1', 'name: a, labels: 1'])(
    'restricts what its spec says with the metadata { %s }',
    (metadata) => {
      const { environment } = written(
        policy('PeerAuthentication', '{ mtls: { mode: STRICT } }', metadata),
      );
      expect(environment.peerAuthentications.get('default')).toMatchObject([
        { spec: { mode: 'strict' } },
      ]);
    },
  );

  it('closes with a member beside spec that is none', () => {
    expect(
      closed(
        written(
          policy('PeerAuthentication', '{}').replace(
            'spec: {}',
            'specs: { mtls: { mode: STRICT } }',
          ),
        ),
      ),
    ).toBe(all);
  });

  it('stays as it was if it was right before', () => {
    const good = policy('PeerAuthentication', '{ mtls: { mode: STRICT } }');
    const bad = policy('PeerAuthentication', '{ mtls: { mode: STRICTT } }');
    const outcome = written(good, bad);
    expect(closed(outcome)).toBe('');
    expect(outcome.environment.peerAuthentications.get('default')).toMatchObject([
      { spec: { mode: 'strict' } },
    ]);
    expect(outcome.flaws).toHaveLength(1);
  });

  it('follows its text while it is wrong, and opens when it is right or gone', () => {
    const bad = (label: string) =>
      policy(
        'PeerAuthentication',
        `{ selector: { matchLabels: { app: ${label} } }, mtls: { mode: NO } }`,
      );
    expect(closed(written(bad('app'), bad('other')))).toBe('');
    expect(closed(written(bad('other'), bad('app')))).toBe(all);
    expect(
      closed(written(bad('app'), policy('PeerAuthentication', '{ mtls: { mode: STRICT } }'))),
    ).toBe('');
    expect(closed(written(bad('app'), services))).toBe('');
  });

  it('stays closed while the file is not YAML', () => {
    expect(
      closed(written(policy('PeerAuthentication', '{ newer: 1 }'), `${services}\n{ a: [`)),
    ).toBe(all);
  });

  it('closes beside an older one at its level, for it may mean another workload', () => {
    const older = policy(
      'PeerAuthentication',
      '{ mtls: { mode: PERMISSIVE } }',
      'name: b, creationTimestamp: "2020-01-01T00:00:00Z"',
    );
    expect(
      closed(
        written(
          `${older}---${policy('PeerAuthentication', '{ selector: 1 }').replace(services, '')}`,
        ),
      ),
    ).toBe(all);
  });
});

describe('a policy that is not served', () => {
  it.each([
    [
      'AuthorizationPolicy',
      '{ targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: a }] }',
    ],
    [
      'RequestAuthentication',
      '{ jwtRules: [{ issuer: a, jwks: \'{"keys":[{"kty":"oct","k":"AQAB"}]}\' }], targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: a }] }',
    ],
    ['RequestAuthentication', '{}'],
  ])('%s %s closes nothing, with a warning', (kind, spec) => {
    const outcome = written(policy(kind, spec));
    expect(closed(outcome)).toBe('');
    expect(outcome.flaws).toEqual([
      expect.objectContaining({
        key: `${kind}/default/a`,
        field: 'spec',
        severity: 'warning',
      }),
    ]);
    expect(outcome.flaws[0]?.reason).toMatch(/and has no effect$/);
  });

  it('closes no sidecar if it names targets and is refused', () => {
    const outcome = written(
      policy('AuthorizationPolicy', '{ targetRefs: [{ kind: Gatway, name: a }] }'),
    );
    expect(closed(outcome)).toBe('');
    expect(outcome.flaws[0]).toMatchObject({ field: 'spec.targetRefs[0]', severity: 'error' });
  });

  it('closes nothing if it is a dry run', () => {
    const metadata = 'name: a, annotations: { istio.io/dry-run: "true" }';
    const spec = '{ action: CUSTOM, provider: { name: a }, rules: [{}] }';
    const outcome = written(policy('AuthorizationPolicy', spec, metadata));
    expect(closed(outcome)).toBe('');
    expect(outcome.flaws).toMatchObject([
      {
        field: 'spec.action',
        reason: 'a dry run is for ALLOW, DENY and AUDIT: CUSTOM has no effect',
        severity: 'warning',
      },
    ]);
  });
});

describe('the TLS of a DestinationRule that is refused and was never right', () => {
  const rule = (trafficPolicy: string, more = '') => `${services}
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: a }
spec: { host: app.mesh, trafficPolicy: ${trafficPolicy}${more} }
`;
  /** Returns the type of each cluster, followed by the number of its endpoints if it lists them. */
  const clusters = ({ environment }: { readonly environment: Environment }) =>
    Object.fromEntries(
      [...outboundClusters(environment, proxyAt()).resources.values()].map(({ name, body }) => {
        const cluster = published(typeUrls.cluster, body) as {
          readonly type: string;
          readonly load_assignment?: { readonly endpoints?: readonly unknown[] };
        };
        return [
          name,
          cluster.load_assignment === undefined
            ? cluster.type
            : `${cluster.type} ${cluster.load_assignment.endpoints?.length ?? 0}`,
        ];
      }),
    );

  it('has nothing sent, rather than in plain text', () => {
    const outcome = written(rule('{ tls: { mode: SIMPLE, newer: 1 } }'));
    expect(clusters(outcome)).toEqual({
      'outbound|80||app.mesh': 'STATIC 0',
      'outbound|90||app.mesh': 'STATIC 0',
    });
    expect(outcome.flaws.at(-1)).toMatchObject({
      reason: 'it has no good version: nothing is sent to destinations for which its TLS is wrong',
    });
  });

  it('has no balancer for original destinations, which Envoy refuses for no endpoints', () => {
    const outcome = written(
      rule('{ tls: { mode: MUTUAL }, loadBalancer: { simple: PASSTHROUGH } }'),
    );
    expect(clusters(outcome)).toMatchObject({ 'outbound|80||app.mesh': 'STATIC 0' });
    const balancers = [...outboundClusters(outcome.environment, proxyAt()).resources.values()].map(
      ({ body }) =>
        (published(typeUrls.cluster, body) as { readonly lb_policy?: string }).lb_policy,
    );
    expect(balancers).toEqual(['LEAST_REQUEST', 'LEAST_REQUEST']);
  });

  it('has what is sent elsewhere served', () => {
    const outcome = written(
      rule('{ portLevelSettings: [{ port: { number: 90 }, tls: { mode: SIMPL } }] }'),
    );
    expect(clusters(outcome)).toEqual({
      'outbound|80||app.mesh': 'EDS',
      'outbound|90||app.mesh': 'STATIC 0',
    });
  });

  it('stays as it was if it was right before', () => {
    expect(
      clusters(
        written(rule('{ tls: { mode: SIMPLE } }'), rule('{ tls: { mode: SIMPLE, newer: 1 } }')),
      ),
    ).toMatchObject({
      'outbound|80||app.mesh': 'EDS',
    });
  });
});

describe('a Gateway that is refused and was never right', () => {
  const node = proxyAt({ role: 'router' });
  const gateway = (...servers: readonly string[]) => `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: front, namespace: default }
spec: { servers: [${servers.join()}] }
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: all, namespace: default }
spec: { hosts: ["*"], gateways: [front], http: [{ route: [{ destination: { host: a.mesh } }] }] }
`;
  const https = (host: string, tls: string) =>
    `{ port: { number: 443, name: p${host.replace(/\W/g, '').length}, protocol: HTTPS }, hosts: ["${host}"], tls: { ${tls} } }`;
  const http = (tls: string) =>
    `{ port: { number: 80, name: http, protocol: HTTP }, hosts: [a.example.com], tls: { ${tls} } }`;
  const good = 'mode: SIMPLE, credentialName: c';
  /** Returns the filter that handles the connections of each name. */
  const names = ({ environment }: { readonly environment: Environment }) =>
    Object.fromEntries(
      gatewayListeners(environment, node)
        .flatMap(
          ({ body }) =>
            (
              published(typeUrls.listener, body) as {
                readonly filter_chains: readonly {
                  readonly filter_chain_match?: { readonly server_names: readonly string[] };
                  readonly filters: readonly { readonly name: string }[];
                }[];
              }
            ).filter_chains,
        )
        .map(({ filter_chain_match: match, filters: [filter] }) => [
          match?.server_names[0] ?? 'all',
          filter?.name.split('.').pop(),
        ]),
    );

  it('has nothing served by the server that is wrong, not even by one with a wildcard', () => {
    const outcome = written(
      gateway(https('a.example.com', 'mode: MUTUL'), https('*.example.com', good)),
    );
    expect(names(outcome)).toEqual({
      'a.example.com': 'tcp_proxy',
      '*.example.com': 'http_connection_manager',
    });
    expect(outcome.flaws.at(-1)).toMatchObject({
      reason: 'it has no good version: nothing is served by a server whose TLS is wrong',
    });
  });

  it.each(['mode: MUTUAL, credentialName: c, newer: 1', 'mode: SIMPLE', 'newer: 1'])(
    'has nothing served with { %s }',
    (tls) => {
      expect(names(written(gateway(https('a.example.com', tls))))).toEqual({
        'a.example.com': 'tcp_proxy',
      });
    },
  );

  it('has nothing served in plain text, if it may have been meant to redirect', () => {
    const { environment } = written(gateway(http('httpsRedirekt: true')));
    const { resources } = gatewayRoutes(environment, node, visibleServices(environment, node));
    expect(
      JSON.stringify(published(typeUrls.route, resources[0]?.body ?? new Uint8Array())),
    ).toContain('"require_tls":"ALL"');
  });

  it('stays as it was if it was right before', () => {
    expect(
      names(
        written(gateway(https('a.example.com', good)), gateway(https('a.example.com', 'mode: NO'))),
      ),
    ).toEqual({ 'a.example.com': 'http_connection_manager' });
  });

  it('has nothing served if more is wrong than TLS', () => {
    expect(names(written(gateway(https('a.example.com', good), '{}')))).toEqual({});
  });
});
