import { isUtf8 } from 'node:buffer';
import { map } from 'rxjs';
import { blockingQueries, type Queried } from './blocking-queries.ts';
import { type Content, type ContributingSource, isMap } from './contribution.ts';
import type { CredentialFiles } from './credentials.ts';
import { errorsOf, type Fetched, fetched } from './fetched.ts';
import { source, type SourceOptions } from './source.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** The part of Consul to watch: the keys below a prefix, or the healthy instances of a service. */
export type ConsulWatch = { readonly prefix: string } | { readonly service: string };

export interface ConsulOptions extends Omit<SourceOptions, 'every' | 'watch'>, CredentialFiles {
  /**
   * Its name in the log and in metrics; `consul/kv/PREFIX` or `consul/service/NAME` if left out.
   */
  readonly name?: string;
  /** `http://host:port`, or `host:port`; http://127.0.0.1:8500 if left out or empty. */
  readonly address?: string;
  /**
   * How long Consul delays an answer without news, in ms; 50,000 if left out, which is less than
   * proxies on the way usually allow.
   */
  readonly wait?: number;
}

/** The largest size of an answer, in bytes. */
const largest = 4 << 20;

/**
 * Reads keys or a service from Consul, and each change at once, by blocking queries.
 *
 * For a prefix, the content is an object of the texts of all keys below it, each named by what
 * follows the prefix. If the prefix is itself the name of a key, it is the text of that key.
 * Secrets are bytes instead of texts. For a service, it is an object of its instances that pass all
 * checks, each with address, port, tags and meta, and named `NODE/ID`.
 *
 * If Consul may not show the content, or has no leader and cannot know it, that is a failure, not
 * an empty content.
 */
export function consul(watch: ConsulWatch, options: ConsulOptions = {}): ContributingSource {
  const isService = 'service' in watch;
  const {
    name = `consul/${isService ? `service/${watch.service}` : `kv/${watch.prefix}`}`,
    wait = 50_000,
    timeout = 10_000,
  } = options;
  const { random = Math.random, scheduler, as } = options;
  const [path, stateOf] = isService
    ? [`health/service/${encodeURIComponent(watch.service)}?passing=true`, instances]
    : [
        `kv/${watch.prefix.split('/').map(encodeURIComponent).join('/')}?recurse=true`,
        keys(watch.prefix, as === 'secret'),
      ];
  const url = `${baseOf(options)}/v1/${path}`;
  const times = { wait, timeout, random, ...(scheduler !== undefined && { scheduler }) };
  const queried: Queried<Content> = {
    query(index) {
      const blockingUrl = index === 0 ? url : `${url}&index=${index}&wait=${wait}ms`;
      return fetched(
        blockingUrl,
        options,
        ({ token }) => (token === undefined ? {} : { 'x-consul-token': token }),
        largest,
      ).pipe(map((answer) => ({ index: indexOf(answer, options), state: stateOf(rows(answer)) })));
    },
  };
  // Options from flags and files have a member `watch` of another kind.
  return source(name, () => blockingQueries(queried, times).pipe(errorsOf(url)), {
    ...options,
    timeout,
    watch: [],
  });
}

function baseOf({ address = '' }: ConsulOptions): string {
  const whole = address === '' ? '127.0.0.1:8500' : address;
  return (whole.includes('://') ? whole : `http://${whole}`).replace(/\/+$/, '');
}

/** Returns the index of an answer; throws if the answer has no valid content. */
function indexOf({ status, headers, body }: Fetched, { tokenFile = '' }: CredentialFiles): number {
  const [deny, given] = [headers['x-consul-default-acl-policy'] === 'deny', tokenFile !== ''];
  const index = /^\d+$/.test(String(headers['x-consul-index']))
    ? Number(headers['x-consul-index'])
    : NaN;
  if (status === 403)
    throw new Error(
      `it answers 403: ${given ? `the token in ${tokenFile} may not read this` : 'no token file is given'}`,
    );
  if (status === 500 && body.includes('leader')) throw new Error('it has no leader now');
  if (status !== 200 && status !== 404)
    throw new Error(`it answers ${status} where 200 is expected`);
  if (!Number.isSafeInteger(index))
    throw new Error(`it answers ${status} without X-Consul-Index: is this Consul?`);
  if (headers['x-consul-knownleader'] === 'false')
    throw new Error('it has no leader now, and may not know what is new');
  if (headers['x-consul-results-filtered-by-acls'] === 'true')
    throw new Error(`it holds back what the token in ${tokenFile} may not read`);
  // Without a token, Consul does not even say that it hides something.
  if (deny && !given && rows({ status, body }).length === 0) {
    throw new Error('it shows nothing to who has no token, and no token file is given');
  }
  return index;
}

type Row = Readonly<Record<string, unknown>>;

/** Returns Consul's entries, one row each; none if there is nothing. */
function rows({ status, body }: Pick<Fetched, 'status' | 'body'>): readonly Row[] {
  if (status === 404) return [];
  const entries = parsed(body);
  if (!Array.isArray(entries) || !entries.every(isMap))
    throw new Error('its answer is no list of objects');
  return entries;
}

function parsed(body: Buffer): unknown {
  try {
    return parseJson(body.toString());
  } catch {
    throw new Error('its answer is no JSON'); // the parser's message would quote from it
  }
}

/** Returns the keys below a prefix, or the value of the key with that name. */
function keys(prefix: string, isSecret: boolean): (rows: readonly Row[]) => Content {
  const below = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  return (rows) => {
    const values = rows.flatMap(
      ({ Key: key, Value: value }): readonly (readonly [string, string | Buffer])[] => {
        if (typeof key !== 'string' || (typeof value !== 'string' && value !== null))
          throw new Error('its answer is no list of keys');
        if (key !== prefix && !key.startsWith(below)) return [];
        if (key.endsWith('/')) return []; // Consul's pages show such a key as a folder
        const bytes = Buffer.from(value ?? '', 'base64');
        if (!isSecret && !isUtf8(bytes)) throw new Error(`the value of ${key} is no text in UTF-8`);
        return [[key, isSecret ? bytes : bytes.toString()]];
      },
    );
    const exactMatch = values.find(([key]) => key === prefix);
    return exactMatch === undefined
      ? Object.fromEntries(values.map(([key, value]) => [key.slice(below.length), value]))
      : exactMatch[1];
  };
}

function instances(rows: readonly Row[]): Content {
  return Object.fromEntries(
    rows.map(({ Node: node, Service: service }) => {
      if (!isMap(node) || !isMap(service)) throw new Error('its answer is no list of instances');
      const { ID: id, Address: address, Port: port, Tags: tags, Meta: meta } = service;
      return [
        `${String(node['Node'])}/${String(id)}`,
        {
          address: address === '' ? node['Address'] : address,
          port,
          tags: tags ?? [],
          meta: meta ?? {},
        },
      ];
    }),
  );
}
