import { neededFile, tokenIn } from '../../shared/files/needed-file.ts';
import { largest } from '../../shared/files/outside-file.ts';

/** Files of what a server is asked with. An empty path is one that is not given. */
export interface CredentialFiles {
  /** PEM of the roots that vouch for an `https` server; those of Node if left out. */
  readonly caFile?: string;
  /** One word, which says who asks. */
  readonly tokenFile?: string;
}

export interface Credentials {
  readonly ca?: Buffer;
  readonly token?: string;
}

/**
 * Reads what the files say now: a token is replaced by its issuer before it expires. Rejects with
 * what is wrong with a file, and where.
 */
export async function credentials({
  caFile = '',
  tokenFile = '',
}: CredentialFiles): Promise<Credentials> {
  const [ca, token] = await Promise.all([
    caFile === '' ? undefined : neededFile('the CA file', caFile, largest.pem),
    tokenFile === '' ? undefined : tokenIn('the token file', tokenFile),
  ]);
  if (ca?.includes('-----BEGIN CERTIFICATE-----') === false)
    throw new Error(`the CA file ${caFile} has no certificate in PEM`);
  return { ...(ca !== undefined && { ca }), ...(token !== undefined && { token }) };
}
