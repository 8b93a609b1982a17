import type { KeysAddress } from '../istio/token-rule.ts';

/** The keys of issuers that were fetched, as JWKS for Envoy, by {@link keysId}. */
export type FetchedKeys = ReadonlyMap<string, string>;

/** Where keys are from, as a text. */
export const keysId = ({ has, url }: Pick<KeysAddress, 'has' | 'url'>): string => `${has} ${url}`;
