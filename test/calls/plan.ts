import { type Draw, drawing } from './draw.ts';
import type { StagePorts } from './fixed-resources.ts';
import { connections, gateways } from './gateways.ts';
import { policies, routing } from './rules.ts';
import { services } from './services.ts';
import { tokens } from './tokens.ts';
import {
  blocks,
  gatewayHosts,
  meshHosts,
  methods,
  origins,
  paths,
  queries,
  users,
} from './vocabulary.ts';

/** The listeners to which calls are sent, with the relative number of their calls. */
const weights = {
  sidecar: 6,
  'second port of the sidecar': 3,
  gateway: 5,
  'gateway by TLS': 4,
  'HTTP proxy': 2,
  'Unix socket': 2,
  'TLS of the sidecar': 1,
  'TLS of the gateway': 3,
} as const;

export type Via = keyof typeof weights;
export const vias = Object.keys(weights) as readonly Via[];

/** A request, and the listener to which it is sent. */
export interface Call {
  readonly via: Via;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The SNI. */
  readonly sni: string;
  /**
   * The certificate that the client shows if TLS requests one: none, one with the right root, or
   * one with a wrong root.
   */
  readonly shown: 'none' | 'right' | 'wrong';
}

/** The names by which connections of TLS are passed on, and one that no rule has. */
const passedOn = ['one.tls.mesh', 'two.tls.mesh', 'x.any.mesh', 'gone.tls.mesh'] as const;
/** The names of connections whose TLS a gateway ends. */
const endedNames = ['ended.mesh', 'x.ended.mesh'] as const;

function callVia(draw: Draw, via: Via): Call {
  const host = hostVia(draw, via);
  const token = draw.oneOf(tokens);
  const headers = {
    'x-user': draw.oneOf(users),
    'x-block': draw.oneOf(blocks),
    origin: draw.oneOf(origins),
    authorization: token === '' ? '' : `Bearer ${token}`,
    'access-control-request-method': draw.oneOf(['', '', 'PUT']),
  };
  return {
    via,
    method: draw.oneOf(methods),
    host,
    path: `${draw.oneOf(paths)}${draw.oneOf(queries)}`,
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== '')),
    // A connection may be reused for a host that its certificate does not have.
    sni: via === 'gateway by TLS' && draw.chance(0.15) ? draw.oneOf(gatewayHosts) : host,
    shown: draw.oneOf(['none', 'right', 'right', 'wrong']),
  };
}

const webHost = (draw: Draw): string =>
  draw.chance(0.1) ? draw.oneOf(['unknown.example.com', ...meshHosts]) : draw.oneOf(gatewayHosts);

function hostVia(draw: Draw, via: Via): string {
  switch (via) {
    case 'gateway by TLS':
      return draw.chance(0.15) ? draw.oneOf([...passedOn, ...endedNames]) : webHost(draw);
    case 'gateway':
      return webHost(draw);
    case 'TLS of the gateway':
      return draw.oneOf([...passedOn, ...endedNames, ...endedNames]);
    case 'TLS of the sidecar':
      return draw.oneOf(passedOn);
    case 'sidecar':
    case 'second port of the sidecar':
    case 'HTTP proxy':
    case 'Unix socket':
      return draw.chance(0.15)
        ? draw.oneOf(['unknown.mesh', 'also-a.mesh', 'x.wide.mesh'])
        : draw.oneOf(meshHosts);
  }
}

/** The rules and the calls of a seed. */
export interface Plan {
  readonly rules: readonly string[];
  readonly calls: readonly Call[];
}

export function planOf(seed: number, count: number, ports: StagePorts): Plan {
  const draw = drawing(seed);
  const drawn = gateways(draw, ports);
  const rules = [
    ...drawn.resources,
    ...services(draw, ports),
    ...connections(draw, drawn, ports),
    ...routing(draw, drawn, ports),
    ...policies(draw, ports),
  ];
  const many = vias.flatMap((via) => Array.from({ length: weights[via] }, () => via));
  const calls = draw.several(count, count, () =>
    callVia(draw, draw.oneOf(many as [Via, ...Via[]])),
  );
  return { rules, calls };
}
