import { bytesOutside, largest } from '../../shared/files/outside-file.ts';

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
    caFile === '' ? undefined : read('CA', caFile, largest.pem),
    tokenFile === ''
      ? undefined
      : read('token', tokenFile, largest.token).then((bytes) => bytes.toString('latin1').trim()),
  ]);
  if (ca?.includes('-----BEGIN CERTIFICATE-----') === false)
    throw new Error(`the CA file ${caFile} has no certificate in PEM`);
  // Never shown: what else is in the file may be a secret as well.
  if (token !== undefined && !/^[!-~]+$/.test(token))
    throw new Error(`the token file ${tokenFile} does not have one word of ASCII`);
  return { ...(ca !== undefined && { ca }), ...(token !== undefined && { token }) };
}

function read(what: string, path: string, most: number): Promise<Buffer> {
  return bytesOutside(path, most).catch((error: unknown) => {
    throw new Error(`the ${what} file ${path} cannot be read: ${(error as Error).message}`);
  });
}
