import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { concat, defer, filter, from, map, mergeMap, NEVER, of, Subject, takeUntil } from 'rxjs';
import type { KubeAnswer, KubeApi, KubeWriter, WatchSign } from '../../src/shared/kube/kube-api.ts';
import { decodeSecrets } from '../../src/shared/kube/kube-object.ts';

/** An object of the API, as a user writes it. */
export interface KubeDocument {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly creationTimestamp?: string;
  };
  readonly [section: string]: unknown;
}

/** A Kubernetes API in memory. */
export interface FakeKube {
  readonly api: KubeApi & KubeWriter;
  /**
   * Each request so far: `list pods`, `watch pods`, `find /api/v1`, `create secrets`, `apply
   * configmaps ns/name`.
   */
  readonly requests: readonly string[];
  /** Creates an object, or changes it. */
  readonly put: (object: KubeDocument) => void;
  readonly remove: (object: KubeDocument) => void;
  /** Takes away the right to create and apply objects of a kind. */
  protect(plural: string): void;
  /** Restores the right. */
  unprotect(plural: string): void;
  /** Takes away the right to list and watch a kind. */
  forbid(plural: string): void;
  /** Restores the right. */
  allow(plural: string): void;
  /** Removes the definition of a kind; its objects stay. */
  uninstall(plural: string): void;
  /** Restores the definition. */
  install(plural: string): void;
  /** Ends all watches, and refuses connections until `start`. */
  readonly stop: () => void;
  readonly start: () => void;
  /** Forgets all versions so far: a watch that starts from one of them gets 410. */
  compact(): void;
  /** Copies its objects. The returned function restores the copy, with its older version. */
  backUp(): () => void;
}

/** The place of a kind in the API. */
interface Place {
  readonly kind: string;
  readonly base: string;
  readonly plural: string;
  readonly isNamespaced: boolean;
}

const pluralOf = (kind: string): string => `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
const place = (base: string, kind: string, isNamespaced = true): Place => ({
  kind,
  base,
  plural: kind === 'Gateway' ? 'gateways' : pluralOf(kind),
  isNamespaced,
});
const istio = (group: string, ...kinds: readonly string[]) =>
  kinds.map((kind) => place(`/apis/${group}.istio.io/v1`, kind));

const places: readonly Place[] = [
  ...['Service', 'Pod', 'ConfigMap', 'Secret'].map((kind) => place('/api/v1', kind)),
  ...['Node', 'Namespace'].map((kind) => place('/api/v1', kind, false)),
  place('/apis/discovery.k8s.io/v1', 'EndpointSlice'),
  ...istio('networking', 'ServiceEntry', 'WorkloadEntry', 'VirtualService'),
  ...istio('networking', 'DestinationRule', 'Gateway', 'Sidecar'),
  ...istio('networking', 'ProxyConfig', 'WorkloadGroup'),
  ...istio('security', 'PeerAuthentication', 'AuthorizationPolicy', 'RequestAuthentication'),
  ...istio('telemetry', 'Telemetry'),
];

interface Change {
  readonly version: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeDocument;
}

/** Copies the bytes of a Secret: each answer has its own copy, which a reader may overwrite. */
function copied(object: KubeDocument): KubeDocument {
  const data = Object.entries((object['data'] as object | undefined) ?? {}).map(
    ([key, value]: [string, unknown]) => [key, Buffer.isBuffer(value) ? Buffer.from(value) : value],
  );
  return object.kind === 'Secret'
    ? { ...object, data: Object.fromEntries(data) as unknown }
    : object;
}

/** Returns one without objects. */
export function fakeKube(): FakeKube {
  let [version, compacted, isUp] = [1, 0, true];
  const objects = new Map<string, KubeDocument>();
  const history: Change[] = [];
  const change$ = new Subject<Change>();
  const stop$ = new Subject<void>();
  const [forbidden, unwritable, uninstalled] = [
    new Set<string>(),
    new Set<string>(),
    new Set<string>(),
  ];
  const requests: string[] = [];

  const keyOf = ({ kind, metadata: { namespace = '', name } }: KubeDocument) =>
    `${kind}/${namespace}/${name}`;
  const note = (type: Change['type'], object: KubeDocument) => {
    version += 1;
    const versioned = {
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(version) },
    };
    const change = { version, type, object: versioned };
    history.push(change);
    if (type === 'DELETED') objects.delete(keyOf(object));
    else objects.set(keyOf(object), versioned);
    change$.next(change);
  };
  const served = (base: string) =>
    places.filter((each) => each.base === base && !uninstalled.has(each.plural));
  const refusal = (status: number, reason: string): KubeAnswer => ({
    ok: false,
    failure: { reason, status, pause: 0 },
  });
  const away: KubeAnswer = {
    ok: false,
    failure: { reason: 'connect ECONNREFUSED', status: undefined, pause: 0 },
  };

  /** Returns the kind that a path names, and a test for the objects that it selects. */
  function asksFor(url: URL) {
    const [, base = '', namespace, plural = ''] =
      /^(\/api\/v1|\/apis\/[^/]+\/v1)(?:\/namespaces\/([^/]+))?\/([^/]+)$/.exec(url.pathname) ?? [];
    const name = /^metadata\.name=(.*)$/.exec(url.searchParams.get('fieldSelector') ?? '')?.[1];
    const servedKind = served(base).find((each) => each.plural === plural);
    const has = ({ kind, metadata }: KubeDocument) =>
      kind === servedKind?.kind &&
      (namespace === undefined || metadata.namespace === namespace) &&
      (name === undefined || metadata.name === name);
    return { servedKind, plural, has };
  }

  function answer(path: string): KubeAnswer {
    const url = new URL(path, 'http://api');
    const { servedKind, plural, has } = asksFor(url);
    requests.push(plural === '' ? `find ${url.pathname}` : `list ${plural}`);
    if (!isUp) return away;
    if (plural === '') {
      const group = /^\/apis\/([^/]+)$/.exec(url.pathname);
      if (group !== null && served(`${url.pathname}/v1`).length > 0)
        return { ok: true, value: { preferredVersion: { version: 'v1' } } };
      const resources = served(url.pathname).map((each) => ({
        name: each.plural,
        kind: each.kind,
        namespaced: each.isNamespaced,
      }));
      return resources.length > 0
        ? { ok: true, value: { resources } }
        : refusal(404, `${url.pathname}: 404`);
    }
    if (forbidden.has(plural)) return refusal(403, `${plural} is forbidden`);
    if (servedKind === undefined) return refusal(404, `${plural}: 404`);
    const items = [...objects.values()].filter(has).map(copied);
    return { ok: true, value: { metadata: { resourceVersion: String(version) }, items } };
  }

  function created(path: string, body: string | Uint8Array): KubeAnswer {
    const { servedKind, plural } = asksFor(new URL(path, 'http://api'));
    requests.push(`create ${plural}`);
    if (!isUp) return away;
    if (unwritable.has(plural)) return refusal(403, `${plural}: cannot create`);
    if (servedKind === undefined) return refusal(404, `${plural}: 404`);
    const bytes = Buffer.from(body as string); // of either type
    const given = (
      plural === 'secrets' ? decodeSecrets(bytes) : JSON.parse(bytes.toString())
    ) as KubeDocument;
    const namespace = /namespaces\/([^/]+)/.exec(path)?.[1];
    const object: KubeDocument = {
      ...given,
      kind: servedKind.kind,
      metadata: {
        ...given.metadata,
        ...(namespace !== undefined && { namespace }),
      },
    };
    if (objects.has(keyOf(object))) return refusal(409, `${plural}: 409`);
    note('ADDED', object);
    return { ok: true, value: undefined };
  }

  function applied(path: string, body: string): KubeAnswer {
    const [, collection = '', name = ''] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
    const { servedKind, plural } = asksFor(new URL(collection, 'http://api'));
    const namespace = /namespaces\/([^/]+)/.exec(path)?.[1] ?? '';
    requests.push(`apply ${plural} ${namespace}/${name}`);
    if (!isUp) return away;
    if (unwritable.has(plural)) return refusal(403, `${plural}: cannot patch`);
    if (servedKind === undefined) return refusal(404, `${plural}: 404`);
    const given = JSON.parse(body) as KubeDocument;
    const before = objects.get(keyOf(given));
    const data = { ...(before?.['data'] as object | undefined), ...(given['data'] as object) };
    const object = { ...before, ...given, data };
    const isSame = JSON.stringify(before?.['data']) === JSON.stringify(data);
    if (!isSame) note(before === undefined ? 'ADDED' : 'MODIFIED', object);
    return { ok: true, value: undefined };
  }

  const api: KubeApi & KubeWriter = {
    merge: (path) => of(refusal(404, `${path}: 404`)), // no kind has a status here
    get: (path) => defer(() => of(answer(path))),
    create: (path, body) => defer(() => of(created(path, body))),
    apply: (path, body) => defer(() => of(applied(path, body))),
    watch: (path) =>
      defer(() => {
        const url = new URL(path, 'http://api');
        const { servedKind, plural, has } = asksFor(url);
        requests.push(`watch ${plural}`);
        const since = Number(url.searchParams.get('resourceVersion'));
        const refused = !isUp
          ? away
          : forbidden.has(plural)
            ? refusal(403, `${plural} is forbidden`)
            : servedKind === undefined
              ? refusal(404, `${plural}: 404`)
              : undefined;
        if (refused?.ok === false)
          return of<WatchSign>({ type: 'refused', failure: refused.failure });
        if (since < compacted)
          return from<readonly WatchSign[]>([
            { type: 'opened' },
            { type: 'event', value: { type: 'ERROR', object: { code: 410, message: 'too old' } } },
          ]);
        const signOf = ({ type, object }: Change): WatchSign => ({
          type: 'event',
          value: { type, object: copied(object) },
        });
        const isAbout = (change: Change) => change.version > since && has(change.object);
        return concat(
          concat(
            of<WatchSign>({ type: 'opened' }),
            from(history.filter(isAbout).map(signOf)),
            change$.pipe(filter(isAbout), map(signOf)),
            NEVER,
          ).pipe(takeUntil(stop$)),
          of<WatchSign>({ type: 'ended', reason: 'socket hang up' }),
        );
      }),
  };
  return {
    api,
    requests,
    put: (object) => note(objects.has(keyOf(object)) ? 'MODIFIED' : 'ADDED', object),
    remove: (object) => note('DELETED', object),
    protect: (plural) => unwritable.add(plural),
    unprotect: (plural) => unwritable.delete(plural),
    forbid: (plural) => forbidden.add(plural),
    allow: (plural) => forbidden.delete(plural),
    uninstall: (plural) => uninstalled.add(plural),
    install: (plural) => uninstalled.delete(plural),
    stop() {
      isUp = false;
      stop$.next();
    },
    start: () => (isUp = true),
    compact: () => (compacted = version += 1),
    backUp() {
      const copy = { version, objects: [...objects], history: [...history] };
      return () => {
        version = copy.version;
        objects.clear();
        for (const [key, object] of copy.objects) objects.set(key, object);
        history.splice(0, history.length, ...copy.history);
      };
    },
  };
}

/** Replaces bytes by their base64, as the API does. */
function withoutBytes(_: string, value: unknown): unknown {
  const { type, data } = (value ?? {}) as { readonly type?: unknown; readonly data?: unknown };
  return type === 'Buffer' && Array.isArray(data)
    ? Buffer.from(data as number[]).toString('base64')
    : value;
}

/** Serves a fake API over HTTP, and writes a kubeconfig for it. */
export async function serveFakeKube(
  { api }: FakeKube,
  kubeconfig: string,
): Promise<{ close(): void }> {
  const server: Server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path.includes('watch=1')) {
      const watch = api.watch(path).subscribe({
        next: (sign) => {
          if (sign.type === 'opened') response.writeHead(200).flushHeaders();
          if (sign.type === 'event')
            response.write(`${JSON.stringify(sign.value, withoutBytes)}\n`);
        },
        error: (error: unknown) => response.destroy(error as Error),
        complete: () => response.end(),
      });
      response.on('close', () => watch.unsubscribe());
      return;
    }
    const answer$ =
      request.method === 'GET'
        ? api.get(path)
        : from(buffer(request)).pipe(mergeMap((body) => api.create(path, body)));
    answer$.subscribe({
      next: (answer) => {
        response.statusCode = answer.ok ? 200 : (answer.failure.status ?? 503);
        response.end(JSON.stringify(answer.ok ? answer.value : {}, withoutBytes));
      },
      error: (error: unknown) => response.destroy(error as Error),
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const clusters = [{ name: 'fake', cluster: { server: `http://127.0.0.1:${port}` } }];
  const contexts = [{ name: 'fake', context: { cluster: 'fake' } }];
  writeFileSync(
    kubeconfig,
    JSON.stringify({ 'current-context': 'fake', clusters, contexts, users: [] }),
  );
  return {
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
