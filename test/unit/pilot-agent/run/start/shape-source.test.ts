import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom, NEVER, type Observable, of } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EpochConfig } from '../../../../../src/epochs/ports.ts';
import { readConfigFile } from '../../../../../src/pilot-agent/config/config-file.ts';
import { labelsFile } from '../../../../../src/pilot-agent/run/start/effective-config.ts';
import { shapeSource } from '../../../../../src/pilot-agent/run/start/shape-source.ts';
import { type Platform, unknownPlatform } from '../../../../../src/pilot-agent/bootstrap/cloud.ts';
import {
  contentHash,
  type ContributingSource,
  type Contribution,
  readingOf,
} from '../../../../../src/pilot-agent/sources/contribution.ts';
import { accepted, type TestConfig } from '../../../../support/resolved.ts';

const google: Platform = {
  metadata: { gcp_project: 'p' },
  locality: { region: 'r', zone: 'z', subZone: '' },
};

describe('what shapes Envoy’s configuration', () => {
  const before = process.cwd();
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'shape-source-')));
    process.chdir(folder);
  });
  afterEach(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });

  /** Returns the source of an agent that was started with `first`, and reads `now`. */
  const sourceOf = (
    first: TestConfig,
    now: TestConfig,
    platform$: Observable<Platform> = of(unknownPlatform),
  ) =>
    shapeSource({
      initial: accepted(first),
      reread: () => Promise.resolve(accepted(now)),
      platform$,
      sds: undefined,
      xdsSocket: undefined,
    });
  const readingIn = async ({ reading$ }: ReturnType<typeof sourceOf>) =>
    (await firstValueFrom(reading$, { defaultValue: undefined })) ??
    expect.unreachable('there is no reading');
  const read = async (source: ReturnType<typeof sourceOf>) =>
    (await readingIn(source)).config ?? expect.unreachable('there is no configuration');
  const textOf = (config: EpochConfig) =>
    config.kind === 'generated' ? config.text : expect.unreachable(JSON.stringify(config));

  it('is read anew, but for what only a new agent can honour: that stays, with where it is from, and is told', async () => {
    const first = {
      given: { concurrency: '2' },
      mesh: { discoveryAddress: 'old:1', statusPort: 15_020 },
    };
    const now = { mesh: { discoveryAddress: 'new:2', statusPort: 15_999, concurrency: 3 } };
    const { validConfig, warnings, epoch } = await read(sourceOf(first, now));
    expect(validConfig?.config).toEqual({
      ...accepted(now).config,
      statusPort: 15_020,
      concurrency: 2,
    });
    expect(validConfig?.sources).toEqual({
      ...accepted(now).sources,
      concurrency: '--concurrency',
    });
    expect(warnings).toEqual([
      'statusPort, concurrency: the change takes effect when the agent is restarted',
    ]);
    expect(textOf(epoch)).toContain('new');
  });

  it('keeps a service whose certificates are other files, which nobody watches, and names it', async () => {
    const meshWith = (folder: string, address: string) => {
      const tlsSettings = { mode: 'SIMPLE', caCertificates: `/${folder}/root.pem` };
      return { mesh: { envoyAccessLogService: { address, tlsSettings } } };
    };
    const first = meshWith('a', 'als:1');
    const other = await read(sourceOf(first, meshWith('b', 'als:2')));
    expect(other.validConfig?.config).toEqual(accepted(first).config);
    expect(other.warnings).toEqual([
      'envoyAccessLogService: the change takes effect when the agent is restarted',
    ]);
    const same = await read(sourceOf(first, meshWith('a', 'als:2')));
    expect(same.validConfig?.config).toEqual(accepted(meshWith('a', 'als:2')).config);
    expect(same.warnings).toEqual([]);
  });

  it('keeps what a changed configuration file says of the agent itself, and names it', async () => {
    const withFile = (content: object): TestConfig => {
      const file = readConfigFile('a.yaml', { ok: true, value: content });
      return { file, env: file.environment };
    };
    const files = { kind: 'files', name: 'f', paths: ['/a'] };
    const first = withFile({
      minDelay: '1s',
      discoveryAddress: 'old:1',
      sources: [files],
      environment: { CA_ADDR: 'a:1' },
    });
    const now = withFile({
      minDelay: '2s',
      discoveryAddress: 'new:2',
      sources: [{ ...files, paths: ['/b'] }],
      environment: { CA_ADDR: 'b:1' },
    });
    const { validConfig, warnings, epoch } = await read(sourceOf(first, now));
    expect(warnings).toEqual([
      'minDelay, sources, secrets: the change takes effect when the agent is restarted',
    ]);
    expect(validConfig?.config).toMatchObject({
      minDelay: 1_000,
      discoveryAddress: 'new:2',
      sources: [{ paths: ['/a'] }],
      secrets: { caAddress: 'a:1' },
    });
    expect(textOf(epoch)).toContain('new');
    // An equal configuration is not a change, although each list is a new object.
    expect((await read(sourceOf(first, first))).warnings).toEqual([]);
  });

  it('has no part for a file that is not configured, so that none is told as changed', async () => {
    const given = { given: { customConfigFile: join(folder, 'envoy.yaml') } };
    const reading = await readingIn(sourceOf(given, given));
    expect(reading.parts().filter(({ source, part }) => source === 'files' && part === '')).toEqual(
      [],
    );
  });

  it('says of a fact only what is so now: the platform and addresses are in it, and not in its hash', async () => {
    const before = await readingIn(sourceOf({}, {}));
    const after = await readingIn(sourceOf({}, { addresses: ['10.9.9.9'] }, of(google)));
    expect(textOf(after.config?.epoch ?? expect.unreachable())).toMatch(
      /gcp_project[^]*10\.9\.9\.9|10\.9\.9\.9[^]*gcp_project/,
    );
    expect(textOf(before.config?.epoch ?? expect.unreachable())).not.toMatch(
      /gcp_project|10\.9\.9\.9/,
    );
    expect(after.hash).toBe(before.hash);
    expect(after.parts()).toEqual(before.parts());
  });

  const fifo = (path: string) => execFileSync('mkfifo', [path]);
  const large = (path: string) => writeFileSync(path, `a="${'b'.repeat(16 << 20)}"`);
  it.each<[what: string, put: (path: string) => unknown, why: RegExp]>([
    ['a FIFO', fifo, /it is a FIFO, and not a regular file$/],
    [
      'a device',
      (path) => symlinkSync('/dev/zero', path),
      /it is a device, and not a regular file$/,
    ],
    [
      '16 MB of text',
      large,
      /it has 16777220 bytes, and (524288|262144|67108864) are read at most$/,
    ],
  ])('says of %s in the place of a file what is wrong, and goes on', async (what, put, why) => {
    mkdirSync('etc/istio/pod', { recursive: true });
    put(labelsFile);
    put('override');
    const override = { given: {}, env: { ISTIO_BOOTSTRAP_OVERRIDE: 'override' } };
    const shaped = await read(sourceOf(override, override));
    expect(shaped.epoch.kind).toBe('generated');
    expect(shaped.warnings).toHaveLength(2);
    for (const warning of shaped.warnings) expect(warning).toMatch(why);

    put('template');
    const template = { given: { templateFile: 'template' } };
    expect((await read(sourceOf(template, template))).epoch).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(why) as string,
    });

    if (what === '16 MB of text') return; // Envoy's own configuration may be that long
    const custom = { given: { customConfigFile: 'template' } };
    expect((await read(sourceOf(custom, custom))).epoch).toEqual({
      kind: 'refused',
      reason: expect.stringMatching(why) as string,
    });
  });

  it('names the node as it was at the start', async () => {
    const node = accepted({}).config.node;
    const { validConfig } = await read(sourceOf({}, { addresses: ['10.9.9.9'] }));
    expect(validConfig?.config.node).toEqual({ ...node, addresses: ['10.9.9.9'] });
  });

  it('has the address of statsd as it is now, and the name in its hash', async () => {
    const statsd = (statsdUdpAddress: string) =>
      readingIn(sourceOf({}, { mesh: { statsdUdpAddress } }));
    const [named, numbered, none] = [
      await statsd('localhost:8125'),
      await statsd('127.0.0.1:8125'),
      await statsd('name.invalid:8125'),
    ];
    const sinks = [named, numbered].map(({ config }) =>
      textOf(config?.epoch ?? expect.unreachable()),
    );
    expect(sinks[0]).toContain('StatsdSink');
    expect(sinks[0]).toBe(sinks[1]);
    expect(new Set([named.hash, numbered.hash, none.hash]).size).toBe(3);
    expect(none.config?.warnings).toEqual([
      expect.stringMatching(/^statsd is left out of this epoch: lookup failed for 'name.invalid'/),
    ]);
  });

  describe('with other sources', () => {
    const given = (
      use: Contribution['use'],
      content: Contribution['content'],
      source: string = use,
    ) => ({ source, use, at: 'a.b', hash: contentHash(content), content, trouble: undefined });
    const besides = (...contributions: readonly Contribution[]) => ({
      changes$: NEVER,
      reading$: of(readingOf(contributions)),
    });
    const reading = (beside: ContributingSource, first: TestConfig = {}) =>
      readingIn(
        shapeSource({
          initial: accepted(first),
          reread: () => Promise.resolve(accepted(first)),
          platform$: of(unknownPlatform),
          sds: undefined,
          xdsSocket: undefined,
          beside,
        }),
      );

    it('is what a source says, instead of the bootstrap and of a custom configuration', async () => {
      const file = join(folder, 'envoy.yaml');
      writeFileSync(file, '{}');
      const { config } = await reading(besides(given('envoy', '{"a":1}')), {
        given: { customConfigFile: file },
      });
      expect(config?.epoch).toEqual({
        kind: 'generated',
        text: '{"a":1}',
        origin: 'source envoy',
        extension: '.json',
        override: '',
      });
      const yaml = await reading(besides(given('envoy', Buffer.from('a: 1\n'))));
      expect(yaml.config?.epoch).toMatchObject({ text: 'a: 1\n', extension: '.yaml' });
    });

    it('is a custom configuration until the source has been read', async () => {
      const file = join(folder, 'envoy.yaml');
      writeFileSync(file, '{}');
      const { config } = await reading(besides(given('envoy', undefined)), {
        given: { customConfigFile: file },
      });
      expect(config?.epoch).toMatchObject({ kind: 'given', path: file });
    });

    it('has what a source lays over it', async () => {
      const { config } = await reading(
        besides(given('merge', { c: 1 }), given('merge', undefined, 'unread')),
      );
      expect(config?.epoch).toMatchObject({
        kind: 'generated',
        overlays: [{ source: 'merge', at: 'a.b', text: '{"c":1}' }],
      });
    });

    it('differs by what asks for an epoch, and by nothing else', async () => {
      const none = await reading(besides());
      const differs = async (use: Contribution['use'], content: Contribution['content']) =>
        (await reading(besides(given(use, content)))).hash !== none.hash;
      expect(await differs('restart', 'x')).toBe(true);
      expect(await differs('envoy', '{}')).toBe(true);
      expect(await differs('merge', '{}')).toBe(true);
      const debug = await reading(besides(given('runtime', { logLevel: 'debug' })));
      expect((await reading(besides(given('runtime', { logLevel: 'info' })))).hash).toBe(
        debug.hash,
      );
      expect(await differs('secret', 'x')).toBe(false);
    });

    it('names the part of a source that has changed', async () => {
      const parts = (await reading(besides(given('restart', { 'a.yaml': '1' }, 'kube')))).parts();
      expect(parts.map(({ source, part }) => `${source} ${part}`)).toContain('kube a.yaml');
    });

    it('has the runtime settings beside it, and a warning for those that are none', async () => {
      expect(
        (await reading(besides(given('runtime', { logLevel: 'debug' })))).config?.runtime,
      ).toMatchObject({ logLevel: 'debug' });
      const { config } = await reading(besides(given('runtime', { logLevel: 'loud' })));
      expect(config?.runtime).toBeUndefined();
      expect(config?.warnings.join()).toContain(
        'source runtime is ignored: logLevel is none of trace',
      );
    });
  });
});
