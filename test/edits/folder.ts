import type { MeshState } from './plan.ts';

/** The ports that the folder names. */
export interface FolderPorts {
  /** The port of each service, at the sidecar of the client. */
  readonly service: number;
  /** The port of the gateway for HTTP. */
  readonly gateway: number;
  /** The port of the gateway for HTTPS. */
  readonly https: number;
  /** The port of the application behind all services except `echo.mesh`. */
  readonly application: number;
}

const action = {
  forward: (host: string) => `route: [{ destination: { host: ${host} } }]`,
  answer: () => 'directResponse: { status: 418 }',
  fault: (host: string) =>
    `fault: { abort: { httpStatus: 429, percentage: { value: 100 } } }, route: [{ destination: { host: ${host} } }]`,
};

const service = (name: string, exportTo: string, ports: FolderPorts, labels = '') => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: default }
spec:
  hosts: [${name}.mesh]
  location: MESH_EXTERNAL
  resolution: STATIC
  exportTo: [${exportTo}]
  ports: [{ number: ${ports.service}, name: http, protocol: HTTP }]
  endpoints: [{ address: 127.0.0.1, ports: { http: ${ports.application} }${labels} }]
`;

const virtualService = (namespace: string, host: string, gateways: string, http: string) => `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: ${host.replaceAll('.', '-')}, namespace: ${namespace} }
spec: { hosts: [${host}]${gateways}, http: [{ ${http} }] }
`;

const denying = (name: string, namespace: string, labels: string, rule: string) => `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: ${name}, namespace: ${namespace} }
spec: { selector: { matchLabels: { ${labels} } }, action: DENY, rules: [${rule}] }
`;

/** Returns the files of a state by name, without those of the two sidecars. */
export function filesOf(state: MeshState, ports: FolderPorts): ReadonlyMap<string, string> {
  const hosts = Object.entries(state.hosts);
  const served = hosts.filter(([, { served }]) => served).map(([name]) => `${name}.example.com`);
  const denied = hosts.filter(([, { denied }]) => denied).map(([name]) => `${name}.example.com`);
  const imported = hosts.filter(([, { imported }]) => imported).map(([name]) => `${name}.mesh`);
  const subset = `v1-${String(state.renamed)}`;
  return new Map([
    [
      '30-mtls.yaml',
      `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: { name: default, namespace: default }
spec: { mtls: { mode: ${state.mtls} } }
`,
    ],
    [
      '40-route.yaml',
      `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: echo, namespace: default }
spec:
  hosts: [echo.mesh]
  http: [{ route: [{ destination: { host: echo.mesh, subset: ${subset} } }] }]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: echo, namespace: default }
spec: { host: echo.mesh, subsets: [{ name: ${subset}, labels: { version: v1 } }] }
`,
    ],
    [
      '50-gateway.yaml',
      `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: front, namespace: shop }
spec:
  selector: { istio: ingressgateway }
  servers:
    - port: { number: ${ports.gateway}, name: http, protocol: HTTP }
      bind: 127.0.0.1
      hosts: [${['steady.example.com', 'echo.example.com', ...served].join(', ')}]
    - port: { number: ${ports.https}, name: https, protocol: HTTPS }
      bind: 127.0.0.1
      hosts: [steady.example.com, echo.example.com]
      tls: { mode: SIMPLE, credentialName: front }
`,
    ],
    [
      '60-client.yaml',
      `
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: client, namespace: shop }
spec:
  workloadSelector: { labels: { app: client } }
  outboundTrafficPolicy: { mode: REGISTRY_ONLY }
  egress: [{ hosts: [${['steady.mesh', 'echo.mesh', ...imported].map((host) => `default/${host}`).join(', ')}] }]
`,
    ],
    [
      '61-steady.yaml',
      service('steady', 'shop', ports, `, labels: { l: l${String(state.labelled)} }`),
    ],
    ...hosts.map(([name, { exported }]): [string, string] => [
      `62-${name}.yaml`,
      service(name, exported ? 'shop' : 'nowhere', ports),
    ]),
    ...hosts.map(([name, { inMesh }]): [string, string] => [
      `63-route-${name}.yaml`,
      virtualService('default', `${name}.mesh`, '', action[inMesh](`${name}.mesh`)),
    ]),
    ...(['steady', 'echo'] as const).map((name): [string, string] => [
      `64-front-${name}.yaml`,
      virtualService(
        'shop',
        `${name}.example.com`,
        ', gateways: [front]',
        action.forward(`${name}.mesh`),
      ),
    ]),
    ...hosts.map(([name, { atGateway }]): [string, string] => [
      `64-front-${name}.yaml`,
      virtualService(
        'shop',
        `${name}.example.com`,
        ', gateways: [front]',
        action[atGateway]('steady.mesh'),
      ),
    ]),
    ...(denied.length === 0
      ? []
      : [
          [
            '70-front.yaml',
            denying(
              'front',
              'shop',
              'istio: ingressgateway',
              `{ to: [{ operation: { hosts: [${denied.join(', ')}] } }] }`,
            ),
          ] as const,
        ]),
    ...(state.echoDenied
      ? [['71-echo.yaml', denying('echo', 'default', 'app: echo', '{}')] as const]
      : []),
    ...(state.more % 2 === 1 ? [['80-more.yaml', service('more', 'shop', ports)] as const] : []),
  ]);
}
