import type { KeysAddress } from '../istio/security/token-rule.ts';

/** The fetched keys of issuers, as JWKS for Envoy, by {@link keysId}. */
export type FetchedKeys = ReadonlyMap<string, string>;

/** Returns the address of keys as a text. */
export const keysId = ({ has, url }: Pick<KeysAddress, 'has' | 'url'>): string => `${has} ${url}`;
