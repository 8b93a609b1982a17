// Why: docs/decisions/101-a-root-is-not-replaced-because-a-file-is-gone.md
import { dirname, join } from 'node:path';
import { type CrlContent, crlContent } from '../../shared/certificates/crl-content.ts';
import { largest, type OutsideFile, readOutside } from '../../shared/files/outside-file.ts';
import { prepareFolder } from '../../shared/files/prepare-folder.ts';
import { makeSelfSignedRoot, readSelfSignedRoot } from './self-signed-root.ts';
import {
  type AuthorityResult,
  type SigningAuthority,
  signingAuthority,
} from './signing-authority.ts';

/** The places where an authority can be. */
export interface AuthorityPlaces {
  /** The folder with the four files of istiod (`cacerts`). */
  readonly folder: string;
  /**
   * The file of the self-signed root, which is used if the folder has none of these files; '' for
   * none.
   */
  readonly rootFile: string;
  /** The lifetime of a self-signed root that is made now, in ms. */
  readonly rootLifetime: number;
}

/** The authority in these places, or why there is none. */
export type AuthorityReading =
  | {
      readonly type: 'authority';
      /** The folder, the file of the self-signed root, or the Secret. */
      readonly path: string;
      readonly authority: SigningAuthority;
      /** The certificates of the mesh that are revoked. */
      readonly crl: CrlContent;
    }
  /** The folder has none of the files, and no self-signed root is named. */
  | { readonly type: 'absent' }
  /** `reason` names the file. */
  | { readonly type: 'refused'; readonly reason: string };

/** The files of istiod. If one of them exists, all of them must exist, except the chain. */
const names = {
  certificate: 'ca-cert.pem',
  key: 'ca-key.pem',
  chain: 'cert-chain.pem',
  roots: 'root-cert.pem',
} as const;

/** The file with CRLs beside a certificate of an authority, and the key in its Secret. */
export const crlName = 'ca-crl.pem';

/** Returns the paths to watch. Pure. */
export const pathsOf = ({ folder, rootFile }: AuthorityPlaces): readonly string[] => [
  ...[...Object.values(names), crlName].map((name) => join(folder, name)),
  ...(rootFile === '' ? [] : [rootFile, join(dirname(rootFile), crlName)]),
];

/**
 * Reads the authority in the folder. If the folder has none of the files, it reads the self-signed
 * root, if one is named. If the file of that root does not exist, the root is made, unless another
 * authority is in use (`mayMake`): the root of a mesh is never replaced because a file is gone.
 * Never rejects.
 *
 * @param now ms since 1970
 */
export async function readAuthority(
  places: AuthorityPlaces,
  mayMake: 'may make a root' | 'may not',
  now: number,
): Promise<AuthorityReading> {
  const { folder, rootFile } = places;
  const read = (name: keyof typeof names) => readOutside(join(folder, names[name]), largest.pem);
  const [certificate, key, chain, roots] = await Promise.all([
    read('certificate'),
    read('key'),
    read('chain'),
    read('roots'),
  ]);
  const files = { certificate, key, chain, roots };
  if (Object.values(files).every(({ kind }) => kind === 'absent'))
    return rootFile === '' ? { type: 'absent' } : selfSigned(places, mayMake, now);
  try {
    const texts = { certificate, roots, key };
    const lack = Object.entries({ ...texts, ...(chain.kind !== 'absent' && { chain }) }).flatMap(
      ([name, file]) =>
        file.kind === 'read'
          ? []
          : [`${join(folder, names[name as keyof typeof names])}: ${file.reason}`],
    );
    if (lack.length > 0) return { type: 'refused', reason: lack.join('; ') };
    const parts = {
      certificate: textIn(certificate),
      key: key.kind === 'read' ? key.bytes : Buffer.alloc(0),
      chain: textIn(chain),
      roots: textIn(roots),
    };
    return await reading(folder, join(folder, crlName), signingAuthority(parts, now));
  } finally {
    if (key.kind === 'read') key.bytes.fill(0);
  }
}

const textIn = (file: OutsideFile): string =>
  file.kind === 'read' ? file.bytes.toString('latin1') : '';

async function reading(
  path: string,
  crlPath: string,
  result: AuthorityResult,
): Promise<AuthorityReading> {
  if (!result.ok) return { type: 'refused', reason: `${path}: ${result.reason}` };
  const crl = crlContent(await readOutside(crlPath, largest.pem));
  return { type: 'authority', path, authority: result.authority, crl };
}

async function selfSigned(
  { rootFile, rootLifetime }: AuthorityPlaces,
  mayMake: 'may make a root' | 'may not',
  now: number,
): Promise<AuthorityReading> {
  try {
    const crlPath = join(dirname(rootFile), crlName);
    const first = await readSelfSignedRoot(rootFile, now);
    if (first.ok !== 'absent') return await reading(rootFile, crlPath, first);
    if (mayMake === 'may not')
      return { type: 'refused', reason: `${rootFile} is gone, and no other authority is there` };
    prepareFolder(dirname(rootFile));
    await makeSelfSignedRoot(rootFile, rootLifetime, now);
    const second = await readSelfSignedRoot(rootFile, now);
    return second.ok === 'absent'
      ? { type: 'refused', reason: `${rootFile} was removed at once` }
      : await reading(rootFile, crlPath, second);
  } catch (error) {
    return { type: 'refused', reason: `${rootFile} cannot be made: ${(error as Error).message}` };
  }
}
