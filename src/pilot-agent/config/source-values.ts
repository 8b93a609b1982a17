import * as z from 'zod/mini';
import { isIpAddress, parseHostPort, portNumber } from '../../shared/text/host-port.ts';
import { parseDuration, value } from '../../shared/text/value.ts';

/** How sources are reached that do not specify it themselves. */
export interface Reach {
  readonly kubeconfig: string;
  readonly consul: {
    readonly address: string;
    readonly caFile: string;
    readonly tokenFile: string;
  };
}

/** The defaults of a source; times in ms, sizes in bytes. */
export const sourceDefaults = {
  http: { every: 30_000, timeout: 10_000, largest: 16 << 20 },
  kube: (resource: string) => (resource === 'Secret' ? 'secret' : 'restart'),
} as const;

/** A URL may contain a password, so messages do not repeat it. */
const notUrl = 'is not an http or https URL';
const notProxy = 'is not http://HOST:PORT';
const proxyForm = /^[Hh][Tt]{2}[Pp]:\/\/[^\s/?#]+\/?$/;
const urlForm = /^[Hh][Tt]{2}[Pp][Ss]?:\/\/[^\s/]+/;
const forms = {
  resource: /^[A-Z][A-Za-z\d]*(?:\.[a-z\d-]+)*$/,
  namespace: /^[a-z\d][a-z\d-]{0,62}$/,
  object: /^[a-z\d][a-z\d.-]{0,252}$/,
  consul: /^(?:kv|service)\/[^/].*$/s,
} as const;
const size = 'a number of bytes, from 1 to 256 MiB';

/** Says whether a text is a URL of HTTP. Pure. */
export function isUrl(text: string): boolean {
  return urlForm.test(text) && URL.canParse(text);
}

/** The kinds of values that sources have. */
export const sourceValues = {
  paths: z.array(
    z.string('is not a text').check(z.minLength(1, 'an empty text is not a path')),
    'is not a list of paths',
  ),
  url: z
    .string(notUrl)
    .check(z.regex(urlForm, { error: notUrl, abort: true }), z.refine(isUrl, notUrl)),
  proxy: z
    .string(notProxy)
    .check(z.regex(proxyForm, { error: notProxy, abort: true }), z.refine(isUrl, notProxy)),
  /** Hosts that are accessed without the proxy, separated by commas. */
  exceptions: value.parsed(
    'a list of hosts, addresses, ranges of addresses or *, with commas between',
    (text) => (text.split(',').every((entry) => isException(entry.trim())) ? text : undefined),
    /^[\w*.:/[\]\s-]+(?:,[\w*.:/[\]\s-]+)*$/,
  ),
  period: value.parsed(
    "a duration from '100ms' to '24h'",
    (text) => {
      const ms = parseDuration(text) ?? 0;
      return ms >= 100 && ms <= 86_400_000 ? ms : undefined;
    },
    /^(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/,
  ),
  size: z
    .int(`is not ${size}`)
    .check(z.gte(1, `is not ${size}`), z.lte(256 << 20, `is not ${size}`)),
  resource: matching("a kind, such as 'Secret' or 'Gateway.networking.istio.io'", forms.resource),
  namespace: matching('the name of a namespace', forms.namespace),
  object: matching('the name of an object', forms.object),
  /** KIND/NAMESPACE/NAME. */
  kubeObject: value.parsed(
    "KIND/NAMESPACE/NAME, such as 'Secret/default/front' or 'Gateway.networking.istio.io/default/front'",
    (text) => {
      const [kind = '', namespace = '', name = '', ...more] = text.split('/');
      const isRight =
        forms.resource.test(kind) &&
        forms.namespace.test(namespace) &&
        forms.object.test(name) &&
        more.length === 0;
      return isRight ? text : undefined;
    },
    /^[^/]+\/[^/]+\/[^/]+$/,
  ),
  consulWatch: matching('kv/PREFIX or service/NAME', forms.consul),
} as const;

/**
 * Accepts `*`, `host`, `.host`, `host:port`, `[address]:port`, an address or a range of addresses.
 */
function isException(text: string): boolean {
  const [range = '', digits] = text.split('/');
  if (digits !== undefined)
    return (
      isIpAddress(range) &&
      /^\d{1,3}$/.test(digits) &&
      Number(digits) <= (range.includes(':') ? 128 : 32)
    );
  const {
    host = '',
    kind,
    port,
  } = isIpAddress(text) ? { host: text, kind: 'ip', port: undefined } : (parseHostPort(text) ?? {});
  const isHost =
    text === '*' ||
    (kind === 'name' ? /^(?:\*?\.)?[\w-]+(?:\.[\w-]+)*\.?$/.test(host) : kind !== undefined);
  return isHost && (port === undefined || portNumber(port) !== undefined);
}

function matching(right: string, form: RegExp) {
  return value.parsed(right, (text) => (form.test(text) ? text : undefined), form);
}
