// Why: docs/decisions/114-control-planes-read-from-this-one.md
import { type Caller, spiffeOf } from './caller.ts';

/** The control planes that may read resources of Istio. */
export interface ConfigReaders {
  /** `NAMESPACE/ACCOUNT` of those on the secure port. */
  readonly accounts: ReadonlySet<string>;
  /** Whether anyone may on the port in plain text. */
  readonly plaintext: 'anyone' | 'nobody';
}

/** Nobody may read. */
export const noReaders: ConfigReaders = { accounts: new Set(), plaintext: 'nobody' };

/** Whether anyone may read at all. Pure. */
export const haveReaders = ({ accounts, plaintext }: ConfigReaders): boolean =>
  accounts.size > 0 || plaintext === 'anyone';

/**
 * Returns why a client may not read the resources of Istio; undefined if it may. Pure.
 *
 * @param caller undefined on the port in plain text
 */
export function configAccess(
  { accounts, plaintext }: ConfigReaders,
  caller: Caller | undefined,
): string | undefined {
  if (caller === undefined)
    return plaintext === 'anyone'
      ? undefined
      : 'it asks for resources of Istio in plain text, and --configReaders does not have plaintext';
  const account = `${caller.namespace}/${caller.serviceAccount}`;
  return accounts.has(account)
    ? undefined
    : `the caller is ${spiffeOf(caller)}, and --configReaders does not have ${account}`;
}

const accountForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\/[a-z0-9][a-z0-9.-]{0,252}$/;

/** Reads a list of `NAMESPACE/ACCOUNT` and `plaintext`; or returns the element that is wrong. */
export function readConfigReaders(
  names: readonly string[],
): ConfigReaders | { readonly wrong: string } {
  const accounts = names.filter((name) => name !== 'plaintext');
  const wrong = accounts.find((name) => !accountForm.test(name));
  if (wrong !== undefined) return { wrong };
  const plaintext = accounts.length < names.length ? 'anyone' : 'nobody';
  return { accounts: new Set(accounts), plaintext };
}
