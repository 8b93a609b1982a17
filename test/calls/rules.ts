import type { Draw } from './draw.ts';
import type { StagePorts } from './fixed-resources.ts';
import { type Gateways, someGateways } from './gateways.ts';
import { type Json, resource } from './resource.ts';
import { issuer, jwks } from './tokens.ts';
import {
  blocks,
  gatewayHosts,
  type MeshHost,
  meshHosts,
  origins,
  paths,
  subsetsOf,
  users,
} from './vocabulary.ts';

type Ports = Pick<StagePorts, 'service' | 'other'>;

const given = (words: readonly string[]) =>
  words.filter((word) => word !== '') as [string, ...string[]];

/** Draws the conditions of a match. */
function match(draw: Draw): Json {
  const path = draw.oneOf(paths);
  const uri = draw.oneOf<Json>([
    { exact: path },
    { prefix: path },
    { prefix: path },
    { regex: '/item/[0-9]+' },
    { regex: '/[a-c].*' },
  ]);
  const header = draw.oneOf<Json>([
    { exact: draw.oneOf(given(users)) },
    { prefix: 'a' },
    { regex: '[a-c]+' },
    {},
  ]);
  return {
    ...(draw.chance(0.7) && { uri, ...(draw.chance(0.2) && { ignoreUriCase: true }) }),
    ...(draw.chance(0.25) && { headers: { 'x-user': header } }),
    ...(draw.chance(0.15) && {
      withoutHeaders: { 'x-block': { exact: draw.oneOf(given(blocks)) } },
    }),
    ...(draw.chance(0.2) && {
      method: draw.oneOf<Json>([{ exact: 'POST' }, { exact: 'DELETE' }, { regex: 'P.*T' }]),
    }),
    ...(draw.chance(0.15) && { queryParams: { debug: { exact: '1' } } }),
  };
}

/** Draws a destination; seldom one that does not exist. */
function destination(draw: Draw, ports: Ports, host: MeshHost): Json {
  const [first, ...more] = subsetsOf[host];
  const subset = first === undefined ? undefined : draw.oneOf([first, ...more]);
  return {
    host: draw.chance(0.03) ? 'gone.mesh' : host,
    ...(subset !== undefined && { subset: draw.chance(0.03) ? 'gone' : subset }),
    ...(draw.chance(0.7) && {
      port: { number: draw.chance(0.9) ? ports.service : ports.other },
    }),
  };
}

const headerChange = (draw: Draw): Json => ({
  ...(draw.chance(0.6) && { set: { 'x-set': draw.oneOf(['one', '%REQ(X-USER)%']) } }),
  ...(draw.chance(0.4) && { add: { 'x-added': 'more' } }),
  ...(draw.chance(0.4) && { remove: ['x-user'] }),
});

const rewrite = (draw: Draw): Json =>
  draw.oneOf<Json>([
    { uri: '/' },
    { uri: '/rewritten' },
    { authority: 'other.name' },
    { uri: '/both', authority: 'other.name' },
    { uriRegexRewrite: { match: '/item/([0-9]+)', rewrite: '/i-\\1' } },
  ]);

function forward(draw: Draw, ports: Ports, host: MeshHost): Json {
  return {
    route: [
      {
        destination: destination(draw, ports, host),
        ...(draw.chance(0.2) && { headers: { response: { set: { 'x-told': 'by the route' } } } }),
      },
    ],
    ...(draw.chance(0.35) && { rewrite: rewrite(draw) }),
    ...(draw.chance(0.3) && {
      headers: { request: headerChange(draw), response: headerChange(draw) },
    }),
    ...(draw.chance(0.15) && { timeout: '5s' }),
    ...(draw.chance(0.15) && {
      corsPolicy: {
        allowOrigins: [{ exact: draw.oneOf(given(origins)) }],
        allowMethods: ['GET', 'PUT'],
        allowHeaders: ['x-user'],
        maxAge: '60s',
      },
    }),
  };
}

/** Draws the action of a route. */
function action(draw: Draw, ports: Ports): Json {
  const forwarded = forward(draw, ports, draw.oneOf(meshHosts));
  return draw.oneOf<Json>([
    forwarded,
    forwarded,
    forwarded,
    forwarded,
    {
      redirect: draw.oneOf<Json>([
        { uri: '/moved', redirectCode: 302 },
        { authority: 'b.example.com' },
        { scheme: 'https', redirectCode: 308 },
        { uri: '/moved', authority: 'c.mesh', redirectCode: 307 },
      ]),
    },
    { directResponse: { status: draw.oneOf([418, 410, 503]), body: { string: 'answered' } } },
    { ...forwarded, fault: { abort: { httpStatus: 429, percentage: { value: 100 } } } },
  ]);
}

function virtualService(
  draw: Draw,
  name: string,
  spec: Json,
  host: MeshHost,
  ports: Ports,
): string {
  const http = draw.several(2, 5, () => ({
    match: draw
      .several(1, 2, () => match(draw))
      .filter((condition) => Object.keys(condition).length > 0),
    ...action(draw, ports),
  }));
  const last = {
    route: [{ destination: { ...destination(draw, ports, host), host } }],
  };
  const routes = [...http.filter((route) => route.match.length > 0), last];
  return resource('VirtualService', 'default', name, { ...spec, http: routes });
}

/** Draws the rules of requests: for each host of the mesh, and for each one of the gateway. */
export function routing(
  draw: Draw,
  drawn: Gateways,
  { service, other }: StagePorts,
): readonly string[] {
  const ports = { service, other };
  return [
    ...meshHosts.map((host) => {
      const gateways = draw.chance(0.5) ? { gateways: ['mesh', ...someGateways(draw, drawn)] } : {};
      const hosts = host === 'a.mesh' ? [host, 'also-a.mesh'] : [host];
      const spec = { hosts, ...gateways };
      return virtualService(draw, host.replace('.', '-'), spec, host, ports);
    }),
    ...gatewayHosts.map((host) => {
      const named = host.startsWith('x.wild') ? '*.wild.example.com' : host;
      const spec = { hosts: [named], gateways: someGateways(draw, drawn) };
      return virtualService(draw, host.replaceAll('.', '-'), spec, draw.oneOf(meshHosts), ports);
    }),
    ...meshHosts
      .filter((host) => subsetsOf[host].length > 0)
      .map((host) =>
        resource('DestinationRule', 'default', host.replace('.', '-'), {
          host,
          subsets: subsetsOf[host].map((version) => ({ name: version, labels: { version } })),
          ...(draw.chance(0.5) && {
            trafficPolicy: { loadBalancer: { simple: draw.oneOf(['ROUND_ROBIN', 'RANDOM']) } },
          }),
        }),
      ),
  ];
}

/** Returns a rule about requests of HTTP, at all ports or only at those that are given. */
function operation(draw: Draw, ports: readonly unknown[] = []): Json {
  const path = draw.oneOf(paths);
  return {
    to: [
      {
        operation: {
          ...(draw.chance(0.5)
            ? { paths: [draw.oneOf([path, `${path}*`])] }
            : { methods: [draw.oneOf(['DELETE', 'PUT', 'P*'])] }),
          ...(ports.length > 0 && { ports: ports.map(String) }),
          ...(draw.chance(0.2) && { notPaths: ['/a/*'] }),
          ...(draw.chance(0.2) && { hosts: [draw.oneOf(['*.mesh', 'a.example.com', '*.com'])] }),
        },
      },
    ],
    ...(draw.chance(0.5) && {
      when: [
        draw.oneOf<Json>([
          { key: 'request.headers[x-user]', values: [draw.oneOf(given(users)), 'a*'] },
          { key: 'request.headers[x-block]', notValues: ['1'] },
        ]),
      ],
    }),
  };
}

/** Draws the callers of a rule; all callers of the stage are in the namespace `shop`. */
const source = (draw: Draw): Json =>
  draw.oneOf<Json>([
    { namespaces: ['shop'] },
    { principals: ['cluster.local/ns/shop/sa/client'] },
    { notPrincipals: ['cluster.local/ns/shop/sa/gateway'] },
    { principals: ['*/sa/gateway'] },
    { notNamespaces: ['other'] },
  ]);

/** Returns a rule about the role that a token of the issuer names. */
const ofRole = (role: string, ports: readonly unknown[] = []): Json => ({
  from: [{ source: { requestPrincipals: [`${issuer}/*`] } }],
  ...(ports.length > 0 && { to: [{ operation: { ports: ports.map(String) } }] }),
  when: [{ key: 'request.auth.claims[role]', values: [role] }],
});

const [gatewayLabels, echoLabels] = [{ istio: 'ingressgateway' }, { app: 'echo' }];

/**
 * Returns the resources that declare the valid tokens, at the gateway and at the sidecar of
 * `echo.mesh`.
 */
const tokenRules = (): readonly string[] =>
  [['shop', 'front', gatewayLabels] as const, ['default', 'echo', echoLabels] as const].map(
    ([namespace, name, matchLabels]) =>
      resource(
        'RequestAuthentication',
        namespace,
        name,
        { selector: { matchLabels }, jwtRules: [{ issuer, jwks, forwardOriginalToken: true }] },
        'security',
      ),
  );

/** Draws the policies of the gateway and of the sidecar of `echo.mesh`. */
export function policies(
  draw: Draw,
  { gateway, https, passing: passingPort }: StagePorts,
): readonly string[] {
  // A rule about HTTP that names no port denies all connections of TCP, and allows none.
  const isForHttp = draw.chance(0.7);
  const ofHttp = isForHttp ? [gateway, https] : [];
  const passing = { to: [{ operation: { ports: [String(passingPort)] } }] };
  const policy = (name: string, action: string, rules: readonly Json[]) => {
    const [namespace, matchLabels] = name.startsWith('echo')
      ? ['default', echoLabels]
      : ['shop', gatewayLabels];
    const spec = { selector: { matchLabels }, action, rules };
    return resource('AuthorizationPolicy', namespace, name, spec, 'security');
  };
  return [
    ...tokenRules(),
    policy('front-deny', 'DENY', [
      ...draw.several(1, 2, () => operation(draw, ofHttp)),
      ...(draw.chance(0.5) ? [ofRole('user', ofHttp)] : []),
    ]),
    policy('echo-deny', 'DENY', [
      ...draw.several(1, 2, () => operation(draw)),
      { from: [{ source: source(draw) }], ...operation(draw) },
    ]),
    ...(draw.chance(0.5)
      ? [
          policy('front-allow', 'ALLOW', [
            { to: [{ operation: { notPaths: ['/deep/*'] } }] },
            ofRole('admin'),
            ...(isForHttp ? [passing] : []),
          ]),
        ]
      : []),
    ...(draw.chance(0.5)
      ? [
          policy('echo-allow', 'ALLOW', [
            { from: [{ source: source(draw) }] },
            operation(draw),
            ofRole('admin'),
          ]),
        ]
      : []),
  ];
}
