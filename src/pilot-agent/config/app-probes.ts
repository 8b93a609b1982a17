import * as z from 'zod/mini';
import { parseJson, TooDeep } from '../../shared/text/parse-json.ts';

interface ProbeTiming {
  /** The time limit of the whole probe, in ms. */
  readonly timeout: number;
}

export interface HttpProbe extends ProbeTiming {
  readonly kind: 'http';
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly secure: boolean;
  /** In their order; a name may occur more than once. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

interface TcpProbe extends ProbeTiming {
  readonly kind: 'tcp';
  readonly host: string;
  readonly port: number;
}

export interface GrpcProbe extends ProbeTiming {
  readonly kind: 'grpc';
  readonly port: number;
  /** The service whose health is requested; empty for the whole server. */
  readonly service: string;
}

/** A probe, or a hook, of the application that the agent carries out for the kubelet. */
export type AppProbe = HttpProbe | TcpProbe | GrpcProbe;

/**
 * The probes by the path at which the kubelet requests them, and the flaw of each that is left out.
 */
export interface AppProbes {
  readonly probes: ReadonlyMap<string, AppProbe>;
  readonly flaws: readonly string[];
}

/** Kubernetes' default (`timeoutSeconds`). In ms. */
const standardTimeout = 1_000;
const pathForm =
  /^\/app-(?:health|lifecycle)\/[^/]+\/(?:livez|readyz|startupz|prestopz|poststartz)$/;
const kinds = ['httpGet', 'tcpSocket', 'grpc'] as const;
/** The names of members match in any case, as in Go: `gRPC` is `grpc`. */
const members = new Map(
  [
    ...kinds,
    'timeoutSeconds',
    'port',
    'path',
    'scheme',
    'host',
    'httpHeaders',
    'name',
    'value',
    'service',
  ].map((name) => [name.toLowerCase(), name]),
);

/**
 * Returns the schemas of probes. They are built on demand: an agent without probes starts without
 * them.
 */
function probeForms() {
  const port = z.number().check(z.int(), z.minimum(1), z.maximum(65_535));
  const text = z.optional(z.string());
  return {
    seconds: z.optional(z.number().check(z.minimum(0))),
    httpGet: z.object({
      port,
      path: text,
      scheme: z.optional(z.enum(['', 'HTTP', 'HTTPS', 'http', 'https'])),
      host: text,
      httpHeaders: z.optional(
        z.nullable(
          z.array(
            z.object({
              name: z.string().check(z.regex(/^(?::authority|[\w!#$%&'*+.^`|~-]+)$/)),
              value: z.optional(z.string().check(z.regex(/^[^\0\r\n]*$/))),
            }),
          ),
        ),
      ),
    }),
    tcpSocket: z.object({ port, host: text }),
    grpc: z.object({ port, service: z.optional(z.nullable(z.string())) }),
  };
}

/** Returns the schema of the map of probes, for the JSON Schema. Pure. */
export function probersForm() {
  const { seconds, httpGet, tcpSocket, grpc } = probeForms();
  const probe = z.looseObject({
    timeoutSeconds: seconds,
    httpGet: z.optional(httpGet),
    tcpSocket: z.optional(tcpSocket),
    grpc: z.optional(grpc),
  });
  return z.record(z.string().check(z.regex(pathForm)), probe);
}

/**
 * Returns the application's probes from `ISTIO_KUBE_APP_PROBERS`: JSON that maps a path to a probe
 * in the format of a pod, or, as the Go agent 1.1 took it, to the content of its `httpGet`. Unknown
 * members are ignored. An invalid probe is left out. Pure.
 */
export function appProbes(json: string): AppProbes {
  let decoded: unknown;
  try {
    decoded = parseJson(json, withKnownNames);
  } catch (error) {
    const why = error instanceof TooDeep ? error.message : 'it is not JSON';
    return { probes: new Map(), flaws: [`failed to decode app prober: ${why}`] }; // the parser's own message repeats the content
  }
  const entries = z.record(z.string(), z.looseObject({})).safeParse(decoded);
  if (!entries.success)
    return {
      probes: new Map(),
      flaws: ['failed to decode app prober: it is not an object of probes by path'],
    };
  const probes = new Map<string, AppProbe>();
  const flaws: string[] = [];
  const forms = probeForms();
  for (const [path, entry] of Object.entries(entries.data)) {
    const probe = pathForm.test(path)
      ? appProbe(entry, forms)
      : `invalid key: a path is /app-health/<container>/ and livez, readyz, startupz, prestopz or poststartz`;
    if (typeof probe === 'string') flaws.push(`${path}: ${probe}`);
    else probes.set(path, probe);
  }
  return { probes, flaws };
}

function withKnownNames(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      members.get(name.toLowerCase()) ?? name,
      member as unknown,
    ]),
  );
}

function appProbe(
  entry: Readonly<Record<string, unknown>>,
  forms: ReturnType<typeof probeForms>,
): AppProbe | string {
  const named = kinds.filter((kind) => entry[kind] !== undefined && entry[kind] !== null);
  const [kind] = named.length === 0 && entry['port'] !== undefined ? (['httpGet'] as const) : named;
  if (kind === undefined || named.length > 1)
    return 'invalid prober type: it is not one of httpGet, tcpSocket and grpc';
  const given = named.length === 0 ? entry : entry[kind];
  const waits = forms.seconds.safeParse(entry['timeoutSeconds'] ?? 0);
  if (!waits.success) return 'timeoutSeconds is not a number from 0 on';
  const timeout = (waits.data ?? 0) * 1_000 || standardTimeout;
  switch (kind) {
    case 'httpGet': {
      const form = forms.httpGet.safeParse(given);
      if (!form.success) return wrong(kind, form.error.issues);
      const { path = '', scheme = '', host = '', httpHeaders } = form.data;
      const headers = (httpHeaders ?? []).map(
        ({ name, value = '' }) => [name === ':authority' ? 'Host' : name, value] as const,
      );
      return {
        kind: 'http',
        timeout,
        host: host === '' ? 'localhost' : host,
        port: form.data.port,
        path: path.startsWith('/') ? path : `/${path}`,
        secure: /https/i.test(scheme),
        headers,
      };
    }
    case 'tcpSocket': {
      const form = forms.tcpSocket.safeParse(given);
      if (!form.success) return wrong(kind, form.error.issues);
      const { host = '' } = form.data;
      return { kind: 'tcp', timeout, host: host === '' ? 'localhost' : host, port: form.data.port };
    }
    case 'grpc': {
      const form = forms.grpc.safeParse(given);
      if (!form.success) return wrong(kind, form.error.issues);
      return { kind: 'grpc', timeout, port: form.data.port, service: form.data.service ?? '' };
    }
  }
}

function wrong(
  kind: (typeof kinds)[number],
  issues: readonly { readonly path: readonly PropertyKey[] }[],
): string {
  const [issue] = issues;
  if (issue?.path[0] === 'port')
    return `invalid prober type ${kind}: port must be int type, from 1 to 65535`;
  return `invalid prober type ${kind}${issue === undefined || issue.path.length === 0 ? '' : `: ${issue.path.join('.')}`}`;
}
