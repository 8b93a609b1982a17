import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseYaml, valueOfYaml } from '../text/parse-yaml.ts';
import { quickYaml } from '../text/quick-yaml.ts';
import { largest } from '../files/outside-file.ts';
import { neededFile, tokenIn } from '../files/needed-file.ts';
import { apiToken, type KubeAccess } from './access.ts';
import { ownMember } from '../text/own-member.ts';

/** An entry of a kubeconfig, with the folder that its paths are relative to. */
interface Entry {
  readonly fields: Fields;
  readonly folder: string;
  /** For a person: the entry and its file. */
  readonly place: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Fields that would run another program, or are no longer part of Kubernetes. */
const unsupported = {
  exec: 'programs that make credentials are not run: give it a token, a tokenFile, or a client certificate',
  'auth-provider':
    'auth-provider is not supported: give it a token, a tokenFile, or a client certificate',
  username:
    'Kubernetes no longer takes user names with passwords: give it a token, a tokenFile, or a client certificate',
  'insecure-skip-tls-verify':
    'the server is always checked: give certificate-authority or certificate-authority-data instead',
  'proxy-url': 'proxies are not supported',
};

/**
 * Returns the access of the current context of these kubeconfigs, as `kubectl` merges them: of two
 * entries with one name the first counts, and a missing file of several is left out. Rejects with
 * the problem, and its place.
 */
export async function kubeconfigAccess(paths: readonly string[]): Promise<KubeAccess> {
  const files = await Promise.all(
    (await existing(paths)).map(async (path) => ({
      path: resolve(path),
      fields: await parsed(path),
    })),
  );
  const where = paths.join(':');
  const current =
    files.map(({ fields }) => textOf(fields, 'current-context')).find((name) => name !== '') ?? '';
  if (current === '')
    throw new Error(`${where}: it has no current-context: set one by kubectl config use-context`);

  function entry(list: string, kind: string, name: string): Entry {
    for (const { path, fields } of files) {
      const item = listOf(ownMember(fields, list)).find((candidate) => candidate['name'] === name);
      if (item !== undefined)
        return {
          fields: fieldsOf(ownMember(item, kind)),
          folder: dirname(path),
          place: `${kind} ${name} in ${path}`,
        };
    }
    throw new Error(`${where}: there is no ${kind} '${name}' among its ${list}`);
  }
  const context = entry('contexts', 'context', current);
  const cluster = entry('clusters', 'cluster', textOf(context.fields, 'cluster'));
  const userName = textOf(context.fields, 'user');
  const user =
    userName === '' ? { fields: {}, folder: '', place: '' } : entry('users', 'user', userName);
  refuse(cluster, 'insecure-skip-tls-verify', 'proxy-url');
  refuse(user, 'exec', 'auth-provider', 'username');

  const server = textOf(cluster.fields, 'server').replace(/\/+$/, '');
  if (!/^https?:\/\/[^/]/.test(server))
    throw new Error(`${cluster.place}: server is not a URL: it has to be https://host:port`);
  const [token, ca, cert, key] = await Promise.all([
    tokenOf(user),
    pem(cluster, 'certificate-authority'),
    pem(user, 'client-certificate'),
    pem(user, 'client-key'),
  ]);
  if ((token !== '' || key !== undefined) && server.startsWith('http:'))
    throw new Error(
      `${cluster.place}: the credentials of ${userName} are not sent over http: server has to be https://host:port`,
    );
  const servername = textOf(cluster.fields, 'tls-server-name');
  return {
    server,
    ...(token !== '' && { token }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(servername !== '' && { servername }),
  };
}

async function existing(paths: readonly string[]): Promise<readonly string[]> {
  if (paths.length === 1) return paths;
  const isAbsent = (error: NodeJS.ErrnoException) => error.code === 'ENOENT';
  const absent = await Promise.all(paths.map((path) => stat(path).then(() => false, isAbsent)));
  const left = paths.filter((_, index) => absent[index] !== true);
  if (left.length === 0) throw new Error(`${paths.join(':')}: none of these kubeconfigs exists`);
  return left;
}

async function parsed(path: string): Promise<Fields> {
  const text = (await neededFile('the kubeconfig', path, largest.text)).toString();
  const quick = quickYaml(text); // the file is read again before each question
  if (quick !== undefined) return fieldsOf(quick.value);
  const flaw = (reason: string) => new Error(`${path}: it is not a kubeconfig: ${reason}`);
  const read = parseYaml(await import('yaml'), text, {});
  if (!read.ok) throw flaw(`line ${read.line}: ${read.reason}`);
  const [document, second] = read.documents;
  if (document === undefined) return {};
  const offset = document.errors[0]?.pos[0] ?? second?.range[0];
  // A message of the parser contains text of the file, perhaps a token.
  if (offset !== undefined)
    throw flaw(`neither YAML nor JSON (line ${read.lines.linePos(offset).line})`);
  const value = valueOfYaml(document);
  if (!value.ok) throw flaw(value.reason);
  return fieldsOf(value.value);
}

/** Throws if an entry has a field that is not supported. */
function refuse({ fields, place }: Entry, ...names: readonly (keyof typeof unsupported)[]): void {
  const name = names.find(
    (field) =>
      fields[field] !== undefined &&
      fields[field] !== null &&
      fields[field] !== false &&
      fields[field] !== '',
  );
  if (name !== undefined) throw new Error(`${place}: ${name}: ${unsupported[name]}`);
}

async function tokenOf({ fields, folder }: Entry): Promise<string> {
  const file = textOf(fields, 'tokenFile');
  return file === '' ? textOf(fields, 'token') : tokenIn(apiToken, resolve(folder, file));
}

/** Reads PEM from the entry itself, as base64; if it has none, from the file that it names. */
async function pem({ fields, folder, place }: Entry, name: string): Promise<Buffer | undefined> {
  const [data, file] = [textOf(fields, `${name}-data`), textOf(fields, name)];
  if (data !== '') return Buffer.from(data, 'base64');
  return file === ''
    ? undefined
    : neededFile(`${name} of ${place}`, resolve(folder, file), largest.pem);
}

function textOf(fields: Fields, name: string): string {
  const value = ownMember(fields, name);
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
