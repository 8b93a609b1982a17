import { neededFile, tokenIn } from '../files/needed-file.ts';
import { largest } from '../files/outside-file.ts';

/** Files with the credentials for a server. An empty path counts as left out. */
export interface CredentialFiles {
  /** PEM of the roots that vouch for an `https` server; Node's roots if left out. */
  readonly caFile?: string;
  /** One word that authenticates the agent. */
  readonly tokenFile?: string;
}

export interface Credentials {
  readonly ca?: Buffer;
  readonly token?: string;
}

/**
 * Reads the current content of the files, because an issuer replaces a token before it expires.
 * Rejects with the flaw of a file and its path.
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
