import { cutSecrets } from './secret-bytes.ts';
import { parseJson } from '../text/parse-json.ts';

/** An object of the API. In a Secret `data` has bytes; all other fields are as in JSON. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    /** Undefined for an object of the cluster. */
    readonly namespace?: string;
    readonly uid?: string;
    /** Changes with each change of the object. It has no other meaning. */
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [section: string]: unknown;
}

/** Parses an answer. Throws if it is not JSON; the error never contains its content. */
export type Decode = (bytes: Buffer) => unknown;

/** Returns an object without the parts that are not needed. */
export type Prune = (object: KubeObject) => KubeObject;

/** Returns the key of an object among those of its kind. */
export function objectKey({ metadata: { name, namespace } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/** Returns the value if it is an object of the API, with a name and a version. Pure. */
export function asObject(value: unknown): KubeObject | undefined {
  const { name, namespace, resourceVersion } =
    (value as Partial<KubeObject> | null | undefined)?.metadata ?? {};
  const isOne =
    typeof name === 'string' &&
    typeof resourceVersion === 'string' &&
    ['string', 'undefined'].includes(typeof namespace);
  return isOne ? (value as KubeObject) : undefined;
}

export const decodeJson: Decode = (bytes) => {
  try {
    return parseJson(bytes.toString());
  } catch {
    throw new Error('its answer is not JSON');
  }
};

/** Parses a Secret, a list of Secrets, or an event about one. */
export const decodeSecrets: Decode = (answer) => {
  const { json, bytes } = cutSecrets(answer);
  const value = decodeJson(json) as { readonly items?: unknown; readonly object?: unknown } | null;
  if (Array.isArray(value?.items))
    return { ...value, items: value.items.map((item) => withBytes(item, bytes)) };
  return value?.object === undefined
    ? withBytes(value, bytes)
    : { ...value, object: withBytes(value.object, bytes) };
};

function withBytes(value: unknown, bytes: readonly Buffer[]): unknown {
  const { data } = (value ?? {}) as { readonly data?: unknown };
  if (typeof data !== 'object' || data === null) return value;
  const entries = Object.entries(data).map(
    ([key, indexOrText]) =>
      [
        key,
        typeof indexOrText === 'number'
          ? bytes[indexOrText]
          : Buffer.from(String(indexOrText), 'base64'),
      ] as const,
  );
  return {
    ...(value as object),
    data: Object.fromEntries(entries.filter(([, content]) => content !== undefined)),
  };
}
