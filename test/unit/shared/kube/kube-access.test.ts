import { mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findAccess } from '../../../../src/shared/kube/find-access.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilot-agent-kube-access-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const config = (cluster: object, user: object = { token: 'secret-token' }) => ({
  'current-context': 'here',
  contexts: [{ name: 'here', context: { cluster: 'one', user: 'me' } }],
  clusters: [{ name: 'one', cluster: { server: 'https://api:6443', ...cluster } }],
  users: [{ name: 'me', user }],
});
const written = (cluster: object = {}, user?: object) =>
  put('config', JSON.stringify(config(cluster, user)));

describe('the access of a kubeconfig', () => {
  it('is the server and the user of its current context, with what is in it', async () => {
    const data = (text: string) => Buffer.from(text).toString('base64');
    const path = written(
      { 'certificate-authority-data': data('ca'), 'tls-server-name': 'kubernetes' },
      { 'client-certificate-data': data('cert'), 'client-key-data': data('key') },
    );
    expect(await findAccess(path)()).toEqual({
      server: 'https://api:6443',
      servername: 'kubernetes',
      ca: Buffer.from('ca'),
      cert: Buffer.from('cert'),
      key: Buffer.from('key'),
    });
  });

  it('is also in the files that it names, relative to it; each time as they are then', async () => {
    put('ca.crt', 'ca');
    put('token', 'one\n');
    const find = findAccess(written({ 'certificate-authority': 'ca.crt' }, { tokenFile: 'token' }));
    expect(await find()).toEqual({
      server: 'https://api:6443',
      ca: Buffer.from('ca'),
      token: 'one',
    });
    put('token', 'two\n');
    expect(await find()).toMatchObject({ token: 'two' });
  });

  it('may be YAML, and in several files, of which the first counts', async () => {
    const first = put(
      'first',
      'current-context: here\nusers:\n- name: me\n  user:\n    token: first\n',
    );
    expect(await findAccess(`${first}:${written()}`)()).toEqual({
      server: 'https://api:6443',
      token: 'first',
    });
  });

  it.each<[what: string, cluster: object, user: object | undefined, reason: RegExp]>([
    [
      'a program',
      {},
      { exec: { command: 'aws' } },
      /^user me in .*config: exec: programs .* are not run: give it a token/,
    ],
    [
      'a password',
      {},
      { username: 'a', password: 'b' },
      /^user me in .*: username: Kubernetes no longer takes user names/,
    ],
    [
      'a server that is not checked',
      { 'insecure-skip-tls-verify': true },
      undefined,
      /^cluster one in .*: insecure-skip-tls-verify: the server is always checked/,
    ],
    [
      'a proxy',
      { 'proxy-url': 'http://p' },
      undefined,
      /^cluster one in .*: proxy-url: proxies are not supported/,
    ],
    [
      'no URL',
      { server: 'api:6443' },
      undefined,
      /^cluster one in .*: server is not a URL: it has to be https:/,
    ],
    ['a token over http', { server: 'http://api' }, undefined, /are not sent over http/],
    [
      'a token file that is not there',
      {},
      { tokenFile: 'none' },
      /^the token for the Kubernetes API cannot be read: .*none/,
    ],
    [
      'an empty token file',
      {},
      { tokenFile: '/dev/null' },
      /^the token for the Kubernetes API cannot be read: .*a device/,
    ],
  ])('%s is refused, with where it is', async (_, cluster, user, reason) => {
    const path = written(cluster, user);
    await expect(findAccess(path)()).rejects.toThrow(reason);
  });

  it('leaves out a missing file of several, as kubectl does', async () => {
    const [missing, other] = [join(folder, 'missing'), join(folder, 'other')];
    expect(await findAccess(`${missing}:${written()}:${other}`)()).toMatchObject({
      token: 'secret-token',
    });
    await expect(findAccess(`${missing}:${other}`)()).rejects.toThrow(
      `${missing}:${other}: none of these kubeconfigs exists`,
    );
    await expect(findAccess(missing)()).rejects.toThrow('the kubeconfig cannot be read');
    mkdirSync(other);
    await expect(findAccess(`${written()}:${other}`)()).rejects.toThrow(other);
  });

  it('with an alias that has no anchor is refused as what it is', async () => {
    await expect(findAccess(put('config', 'users: *secret'))()).rejects.toThrow(
      /: it is not a kubeconfig: an alias has no anchor/,
    );
  });

  it('that is not YAML is refused, without anything of what is in it', async () => {
    const path = put('config', 'users: {token: secret-token\n  - [');
    const reason = await findAccess(path)().then(
      () => '',
      (error: unknown) => (error as Error).message,
    );
    expect(reason).toMatch(/config: it is not a kubeconfig: neither YAML nor JSON/);
    expect(reason).not.toContain('secret');
  });

  it('that lacks what it refers to says so', async () => {
    await expect(findAccess(put('config', '{}'))()).rejects.toThrow(/it has no current-context/);
    await expect(findAccess(put('config', '{"current-context":"a"}'))()).rejects.toThrow(
      /there is no context 'a' among its contexts/,
    );
    await expect(findAccess(join(folder, 'none'))()).rejects.toThrow(
      /^the kubeconfig cannot be read: .*none/,
    );
  });
});

describe('the access of a pod', () => {
  const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };

  it('is its service account, each time as it is then', async () => {
    put('ca.crt', 'ca');
    put('token', 'one\n');
    const find = findAccess('', folder, env);
    expect(await find()).toEqual({
      server: 'https://[fd00::1]:6443',
      token: 'one',
      ca: Buffer.from('ca'),
    });
    put('token', 'two');
    expect(await find()).toMatchObject({ token: 'two' });
  });

  it('says what is missing', async () => {
    await expect(findAccess('', folder, {})()).rejects.toThrow(
      'no Kubernetes API is known: name a kubeconfig (--kubeconfig, KUBECONFIG), or run in a pod',
    );
    put('ca.crt', 'ca');
    mkdirSync(join(folder, 'token'));
    await expect(findAccess('', folder, env)()).rejects.toThrow(
      /^the token for the Kubernetes API cannot be read: .*token: it is a directory/,
    );
    rmdirSync(join(folder, 'token'));
    put('token', '\n');
    await expect(findAccess('', folder, env)()).rejects.toThrow(
      /^the token for the Kubernetes API is not one word of ASCII: .*token$/,
    );
  });
});
