import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Subscription, switchMap, tap } from 'rxjs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SourceConfig } from '../../src/pilot-agent/config/source-config.ts';
import {
  consul,
  type ConsulOptions,
  type ConsulWatch,
} from '../../src/pilot-agent/sources/consul.ts';
import type { Contribution } from '../../src/pilot-agent/sources/contribution.ts';
import type { SourceChange } from '../../src/streams/config-source.ts';
import { type Consul, hasConsul, startConsul } from '../support/consul.ts';
import { leftOut } from '../support/left-out.ts';

if (!hasConsul) leftOut('a source over a real Consul', 'a program');

describe.skipIf(!hasConsul)('consul, of a real server', () => {
  let server: Consul;
  let listening = new Subscription();
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-consul-source-'));

  /**
   * Subscribes to a source. Returns its changes, and functions that return the newest content and
   * trouble.
   */
  const listenTo = (watch: ConsulWatch, options: ConsulOptions = {}) => {
    const changes: SourceChange[] = [];
    let now: Contribution | undefined;
    const { changes$, reading$ } = consul(watch, {
      address: server.address,
      pauses: { first: 100, longest: 500 },
      ...options,
    });
    const error = (problem: unknown) => expect.unreachable(String(problem));
    const now$ = changes$.pipe(
      tap((change) => changes.push(change)),
      switchMap(() => reading$),
    );
    listening.add(now$.subscribe({ next: ({ config }) => (now = config?.[0]), error }));
    const count = (type: SourceChange['type']) =>
      changes.filter((change) => change.type === type).length;
    return { changes, count, content: () => now?.content, trouble: () => now?.trouble };
  };
  afterEach(() => {
    listening.unsubscribe();
    listening = new Subscription();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  describe('that wants no tokens', () => {
    beforeAll(async () => {
      server = await startConsul();
    });
    afterAll(() => server.dispose());

    it('has the keys below a prefix, and each change of them once', async () => {
      await server.ask('PUT', 'kv/mesh/', '');
      await server.ask('PUT', 'kv/mesh/a', 'grüße');
      await server.ask('PUT', 'kv/mesh/deep/b%20c', '');
      await server.ask('PUT', 'kv/mesh-other/a', 'other');
      const { count, content } = listenTo({ prefix: 'mesh' });
      await expect.poll(content).toEqual({ a: 'grüße', 'deep/b c': '' });
      await server.ask('PUT', 'kv/mesh/a', 'new');
      await expect.poll(content).toEqual({ a: 'new', 'deep/b c': '' });
      await server.ask('PUT', 'kv/mesh/a', 'new');
      await server.ask('PUT', 'kv/mesh-other/a', 'new');
      await server.ask('DELETE', 'kv/mesh/deep/b%20c');
      await expect.poll(content).toEqual({ a: 'new' });
      expect(count('changed')).toBe(3);
      await server.ask('DELETE', 'kv/mesh?recurse=true');
      await expect.poll(content).toEqual({});
      expect(count('source-unreadable')).toBe(0);
    });

    it('has the value of a key that is named, as bytes if it is a secret', async () => {
      await server.ask('PUT', 'kv/envoy.json', '{}');
      await server.ask('PUT', 'kv/envoy.json.old', 'old');
      const config: SourceConfig = {
        kind: 'consul',
        name: 'mine',
        as: 'envoy',
        at: '',
        address: server.address,
        watch: { prefix: 'envoy.json' },
        caFile: '',
        tokenFile: '',
      };
      const [text, secret] = [
        listenTo(config.watch, config),
        listenTo({ prefix: 'envoy.json' }, { as: 'secret' }),
      ];
      await expect.poll(text.content).toBe('{}');
      await expect.poll(secret.content).toEqual(Buffer.from('{}'));
    });

    it('waits for a key that is not there yet', async () => {
      const { count, content } = listenTo({ prefix: 'later' });
      await expect.poll(content).toEqual({});
      await server.ask('PUT', 'kv/later', 'here');
      await expect.poll(content).toBe('here');
      expect(count('source-read')).toBeLessThan(5);
    });

    it('has the instances of a service that pass their checks', async () => {
      const { content } = listenTo({ service: 'web' });
      await expect.poll(content).toEqual({});
      const register = (ID: string, Check?: object) =>
        server.ask('PUT', 'agent/service/register', {
          ID,
          Name: 'web',
          Address: '192.0.2.1',
          Port: 80,
          Tags: ['t'],
          Meta: { m: 'v' },
          ...(Check && { Check }),
        });
      await register('one');
      await register('two', { CheckID: 'two', TTL: '60s', Status: 'critical' });
      const instance = { address: '192.0.2.1', port: 80, tags: ['t'], meta: { m: 'v' } };
      const names = () => Object.keys(content() as object).map((name) => name.split('/')[1]);
      await expect.poll(names).toEqual(['one']);
      expect(Object.values(content() as object)).toEqual([instance]);
      await server.ask('PUT', 'agent/check/pass/two', '');
      await expect.poll(names).toEqual(['one', 'two']);
      await server.ask('PUT', 'agent/check/fail/two', '');
      await expect.poll(names).toEqual(['one']);
      await server.ask('PUT', 'agent/service/deregister/one', '');
      await expect.poll(content).toEqual({});
    });

    it('pushes 100 changes of a key, the last of which it has in the end', async () => {
      const { content } = listenTo({ prefix: 'quick' });
      for (let count = 1; count <= 100; count++) await server.ask('PUT', 'kv/quick', String(count));
      await expect.poll(content).toBe('100');
    });

    it('keeps what it has while the server is away, and takes an index that has gone back', async () => {
      await server.ask('PUT', 'kv/kept', 'before');
      const { changes, content, trouble } = listenTo({ prefix: 'kept' });
      await expect.poll(content).toBe('before');
      await server.stop();
      await expect.poll(() => changes.at(-1)?.type).toBe('source-unreadable');
      expect(content()).toBe('before');
      expect(trouble()).toMatch(`${server.address}/v1/kv/kept: `);
      await server.start(); // Consul starts without the keys that it had
      await server.ask('PUT', 'kv/kept', 'after');
      await expect.poll(content).toBe('after');
      await server.ask('PUT', 'kv/kept', 'again');
      await expect.poll(content).toBe('again');
    });
  });

  describe('that wants tokens', () => {
    const tokenFile = join(folder, 'token');
    beforeAll(async () => {
      server = await startConsul({ acl: true });
      await server.ask('PUT', 'kv/mesh/a', 'a');
      await server.ask('PUT', 'kv/mesh/b', 'b');
    });
    afterAll(() => server.dispose());

    it('says why it shows nothing or only a part, and keeps what there was, until the token may read all', async () => {
      const [all, part, none] = [
        await server.token('key_prefix "mesh/" { policy = "read" }'),
        await server.token('key_prefix "mesh/a" { policy = "read" }'),
        await server.token('key_prefix "other/" { policy = "read" }'),
      ];
      const url = `${server.address}/v1/kv/mesh/`;
      expect(await firstTrouble(listenTo({ prefix: 'mesh/' }))).toBe(
        `${url}: it shows nothing without a token, and no token file is given`,
      );
      writeFileSync(tokenFile, 'unknown');
      const { content, trouble, count } = listenTo({ prefix: 'mesh/' }, { tokenFile, wait: 200 });
      await expect
        .poll(trouble)
        .toBe(`${url}: it answers 403: the token in ${tokenFile} may not read this`);
      writeFileSync(tokenFile, all);
      await expect.poll(content).toEqual({ a: 'a', b: 'b' });
      for (const token of [part, none]) {
        writeFileSync(tokenFile, token);
        await expect
          .poll(trouble)
          .toBe(`${url}: it holds back what the token in ${tokenFile} may not read`);
        expect(content()).toEqual({ a: 'a', b: 'b' });
        writeFileSync(tokenFile, all);
        await expect.poll(trouble).toBeUndefined();
      }
      expect(count('changed')).toBe(1);
    });

    it('says so of a service as well', async () => {
      await server.ask('PUT', 'agent/service/register', { ID: 'one', Name: 'web', Port: 80 });
      writeFileSync(tokenFile, await server.token('key_prefix "mesh/" { policy = "read" }'));
      const url = `${server.address}/v1/health/service/web`;
      expect(await firstTrouble(listenTo({ service: 'web' }))).toBe(
        `${url}: it shows nothing without a token, and no token file is given`,
      );
      expect(await firstTrouble(listenTo({ service: 'web' }, { tokenFile }))).toBe(
        `${url}: it holds back what the token in ${tokenFile} may not read`,
      );
    });
  });

  async function firstTrouble({
    trouble,
  }: {
    readonly trouble: () => string | undefined;
  }): Promise<string | undefined> {
    await expect.poll(trouble).toBeDefined();
    return trouble();
  }
});
