import { isUtf8 } from 'node:buffer';
import { blockingQueries } from '../../shared/consul/blocking-queries.ts';
import { consulQuery, type ConsulServer, consulUrl } from '../../shared/consul/consul-query.ts';
import { errorsOf } from '../../shared/http/fetched.ts';
import { type Content, type ContributingSource, isMap } from './contribution.ts';
import { source, type SourceOptions } from './source.ts';

/** The part of Consul to watch: the keys below a prefix, or the healthy instances of a service. */
export type ConsulWatch = { readonly prefix: string } | { readonly service: string };

export interface ConsulOptions
  extends Omit<SourceOptions, 'every' | 'watch'>, Omit<ConsulServer, 'proxy'> {
  /**
   * Its name in the log and in metrics; `consul/kv/PREFIX` or `consul/service/NAME` if left out.
   */
  readonly name?: string;
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
 * If the token does not permit the content, or if Consul has no leader, that is a failure, not an
 * empty content.
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
  const url = consulUrl(options, path);
  const times = { wait, timeout, random, ...(scheduler !== undefined && { scheduler }) };
  const queried = consulQuery<Content>(options, {
    url,
    wait,
    largest,
    stateOf: (body) => stateOf(rows(body)),
  });
  // Options from flags and files have a member `watch` of another kind.
  return source(name, () => blockingQueries(queried, times).pipe(errorsOf(url)), {
    ...options,
    timeout,
    watch: [],
  });
}

type Row = Readonly<Record<string, unknown>>;

/** Returns Consul's entries, one row each; none if there is nothing. */
function rows(body: unknown): readonly Row[] {
  if (body === undefined) return [];
  if (!Array.isArray(body) || !body.every(isMap))
    throw new Error('its answer is not a list of objects');
  return body;
}

/** Returns the keys below a prefix, or the value of the key with that name. */
function keys(prefix: string, isSecret: boolean): (rows: readonly Row[]) => Content {
  const below = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  return (rows) => {
    const values = rows.flatMap(
      ({ Key: key, Value: value }): readonly (readonly [string, string | Buffer])[] => {
        if (typeof key !== 'string' || (typeof value !== 'string' && value !== null))
          throw new Error('its answer is not a list of keys');
        if (key !== prefix && !key.startsWith(below)) return [];
        if (key.endsWith('/')) return []; // Consul's pages show such a key as a folder
        const bytes = Buffer.from(value ?? '', 'base64');
        if (!isSecret && !isUtf8(bytes))
          throw new Error(`the value of ${key} is not text in UTF-8`);
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
      if (!isMap(node) || !isMap(service)) throw new Error('its answer is not a list of instances');
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
