import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastValueFrom, VirtualTimeScheduler } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { validate } from '../../../src/proxy/preflight.ts';
import { readingOf } from '../../../src/testing/reading.ts';
import { bootstrap, type EnvoyStage, envoyStage, onward, only } from '../../support/fake-envoy.ts';

let stage: EnvoyStage;
afterEach(() => stage.dispose());

const check = () => only(stage.check());
/** Checks the reading of this hash ahead of time; `check` itself has the hash `hash`. */
const ahead = (hash: string) =>
  lastValueFrom(
    stage.proxy.checkAhead?.(readingOf(hash, bootstrap)) ??
      expect.unreachable('it has no such check'),
    {
      defaultValue: undefined,
    },
  );
const ok = { kind: 'works' };
/** Returns a program that runs `script` when it is to validate a configuration. */
const validating = (script: string) =>
  `case "$*" in *'--mode validate') ${script} ;; esac\n${onward}`;
/** Returns a program with this hot restart version. */
const version = (text: string) =>
  `[ "$*" = --hot-restart-version ] && { echo ${text}; exit; }\n${onward}`;

describe('a check', () => {
  it('lets Envoy validate what it would be started from, with its real arguments', async () => {
    stage = envoyStage({
      config: () => ({ ...bootstrap, text: '{"a":1}', extension: '.yaml', override: '' }),
    });
    expect(await check()).toEqual(ok);
    const path = join(stage.folder, 'envoy-check.yaml');
    const { argv, config, mode } = stage.validated() ?? expect.unreachable('nothing was validated');
    expect(argv).toEqual([
      ...['-c', path],
      ...['--restart-epoch', '0', '--drain-time-s', '45', '--parent-shutdown-time-s', '60'],
      ...[
        '--service-cluster',
        'a cluster',
        '--service-node',
        'a~node',
        '--local-address-ip-version',
        'v4',
      ],
      ...['--log-format', '%v', '-l', 'info', '--component-log-level', 'misc:error'],
      ...['--concurrency', '2'],
      ...['--drain-strategy', 'immediate'],
      ...['--mode', 'validate'],
    ]);
    expect({ config, mode }).toEqual({ config: '{"a":1}', mode: 0o600 });
    expect(readdirSync(stage.folder)).toEqual([]);
  });

  it('looks a second time at what it refuses beside an Envoy: its files may have been written meanwhile', async () => {
    stage = envoyStage();
    stage.install(
      validating(
        `[ -e "$0.written" ] || { touch "$0.written"; echo "error: no such cluster" >&2; exit 1; }`,
      ),
    );
    expect(await check()).toMatchObject({ kind: 'refused' });
    rmSync(join(stage.root, 'envoy.written'));
    await stage.start({});
    expect(await check()).toEqual(ok);
    expect(stage.validations()).toBe(3);
  });

  it('takes no second validation of what was accepted ahead of it, once', async () => {
    stage = envoyStage();
    await stage.start({});
    const tries = () => stage.validations();
    await ahead('hash');
    expect(tries()).toBe(1);
    expect(await check()).toEqual(ok);
    expect(tries()).toBe(1);
    expect(await check()).toEqual(ok);
    expect(tries()).toBe(2);
    await ahead('of another reading');
    expect(await check()).toEqual(ok);
    expect(tries()).toBe(4);
  });

  it('tells by itself what was refused ahead of it, and writes to a file of its own meanwhile', async () => {
    stage = envoyStage();
    await stage.start({});
    stage.install(
      validating(`echo "error initializing configuration '$2': no such cluster" >&2; exit 1`),
    );
    await ahead('hash');
    expect(stage.validated()?.argv).toContain(join(stage.folder, 'envoy-ahead.json'));
    expect(await check()).toEqual({ kind: 'refused', reason: 'no such cluster' });
    expect(readdirSync(stage.folder)).toEqual([`envoy-${stage.baseId}`, 'envoy-rev0.json']);
  });

  it('validates the file that is given, and leaves it', async () => {
    stage = envoyStage({ config: () => ({ kind: 'given', path, override: '' }) });
    const path = join(stage.root, 'envoy.yaml');
    writeFileSync(path, 'a: 1');
    expect(await check()).toEqual(ok);
    expect(stage.validated()).toMatchObject({
      config: 'a: 1',
      argv: expect.arrayContaining([path]) as unknown,
    });
    expect(readdirSync(stage.root)).toContain('envoy.yaml');
  });

  it.each([false, true])(
    'refuses what Envoy refuses, in its words (while one runs: %s)',
    async (runs) => {
      stage = envoyStage();
      if (runs) await stage.start({});
      stage.install(
        validating(`echo "error initializing configuration '$2': no such cluster" >&2; exit 1`),
      );
      expect(await check()).toEqual({ kind: 'refused', reason: 'no such cluster' });
      expect(readdirSync(stage.folder)).toEqual(
        runs ? [`envoy-${stage.baseId}`, 'envoy-rev0.json'] : [],
      );
    },
  );

  it.each(['exit 3', 'kill -SEGV $$'])(
    'takes another end of a validation (%s) for a refusal only while an Envoy runs',
    async (script) => {
      stage = envoyStage();
      stage.install(validating(script));
      expect(await check()).toEqual(ok);
      await stage.start({});
      expect(await check()).toMatchObject({
        kind: 'refused',
        reason: expect.stringMatching(/^Envoy (ended with 3|was ended by SIGSEGV)$/) as unknown,
      });
    },
  );

  it.each(['kill -KILL $$', 'kill -TERM $$'])(
    'has no verdict if the validation is ended (%s) while an Envoy runs',
    async (script) => {
      stage = envoyStage();
      stage.install(validating(script));
      expect(await check()).toEqual(ok);
      await stage.start({});
      expect(await check()).toEqual({
        kind: 'unchecked',
        reason: expect.stringMatching(/^Envoy was ended by SIG(KILL|TERM)$/) as unknown,
        outOfMemory: false,
      });
    },
  );

  it('has no verdict if the validation can not be started, or its file can not be written', async () => {
    stage = envoyStage();
    await stage.start({});
    stage.install(validating('exit 126'));
    expect(await check()).toMatchObject({ kind: 'unchecked', outOfMemory: false });
    stage.install(onward);
    mkdirSync(join(stage.folder, 'envoy-check.json'));
    expect(await check()).toEqual({
      kind: 'unchecked',
      reason: expect.stringMatching(/envoy-check.json cannot be written: /) as unknown,
      outOfMemory: false,
    });
  });

  it('ends a validation after 20 s, and has no verdict', async () => {
    stage = envoyStage();
    stage.install(validating('exec sleep 600'));
    const scheduler = new VirtualTimeScheduler(undefined, 19_999);
    const tools = { mkfifo: undefined, setpriv: undefined, sh: undefined };
    const verdicts: unknown[] = [];
    const [binary, config] = [join(stage.root, 'envoy'), join(stage.root, 'a.json')];
    writeFileSync(config, '{}');
    const given = {
      binary,
      args: ['-c', config],
      fifo: join(stage.folder, 'fifo'),
      tools,
      alone: () => false,
      scheduler,
    };
    const life = validate(given).subscribe({
      next: (verdict) => verdicts.push(verdict),
      error: (error: unknown) => verdicts.push(error),
    });
    await expect.poll(() => stage.validated()).toBeDefined();
    scheduler.flush();
    expect(verdicts).toEqual([]);
    scheduler.maxFrames = 20_000;
    scheduler.flush();
    await expect.poll(() => life.closed).toBe(true);
    expect(verdicts).toEqual([
      { kind: 'unchecked', reason: '--mode validate took longer than 20 s', outOfMemory: false },
    ]);
  });

  it('refuses a configuration that is refused, with its reason, and tries nothing', async () => {
    stage = envoyStage({ config: () => ({ kind: 'refused', reason: 'PROXY_CONFIG: no YAML' }) });
    expect(await check()).toEqual({ kind: 'refused', reason: 'PROXY_CONFIG: no YAML' });
    expect(stage.validated()).toBe(undefined);
  });

  it('that is given up ends its validation, and leaves nothing', async () => {
    stage = envoyStage();
    const validation = stage.installLasting();
    const life = stage.check().subscribe();
    const pid = await validation();
    life.unsubscribe();
    await expect.poll(() => readdirSync('/proc').includes(pid)).toBe(false);
    expect(readdirSync(stage.folder)).toEqual([]);
  });
});

describe('a certificate without its key', () => {
  const half = () => {
    stage = envoyStage({ pair: { chain: 'cert-chain.pem', key: 'key.pem' } });
    writeFileSync(join(stage.root, 'cert-chain.pem'), 'a certificate');
  };

  it('is not a reason if no Envoy runs: it says itself whether it needs them', async () => {
    half();
    expect(await check()).toEqual(ok);
    expect(stage.validated()).toBeDefined();
  });

  it('is refused while an Envoy runs, before anything is tried', async () => {
    half();
    await stage.start({});
    expect(await check()).toEqual({
      kind: 'refused',
      reason: `${join(stage.root, 'key.pem')}: the key is missing`,
    });
    expect(stage.validated()).toBe(undefined);
  });

  it('is not a reason again when that Envoy has ended', async () => {
    half();
    const envoy = await stage.start({});
    envoy.signal('SIGKILL');
    await envoy.exit();
    expect(await check()).toEqual(ok);
  });
});

describe('while an Envoy runs, a check', () => {
  it('refuses a pair that becomes one half while Envoy validates', async () => {
    stage = envoyStage({ pair: { chain: 'cert-chain.pem', key: 'key.pem' } });
    await stage.start({});
    expect(await check()).toEqual(ok);
    stage.install(validating(`echo half >'${join(stage.root, 'cert-chain.pem')}'; exit 0`));
    expect(await check()).toMatchObject({
      kind: 'refused',
      reason: expect.stringMatching(/key\.pem: the key is missing$/) as unknown,
    });
  });

  it('does not ask the same program for its hot restart version', async () => {
    stage = envoyStage();
    stage.install(version('11.104'));
    await stage.start({});
    expect(await check()).toEqual(ok);
    expect(stage.versionAsked()).toBe(0);
  });

  it('tells of another program with another hot restart version that it cannot be the child of what runs', async () => {
    stage = envoyStage();
    await stage.start({});
    stage.install(version('11.104'));
    expect(await check()).toEqual({ kind: 'works-alone' });
    expect(stage.versionAsked()).toBe(1);
  });

  it('has nothing to say of another program with the same', async () => {
    stage = envoyStage();
    await stage.start({});
    stage.install(onward);
    expect(await check()).toEqual(ok);
    expect(stage.versionAsked()).toBe(1);
  });

  it('compares with the program of the last start', async () => {
    stage = envoyStage();
    await stage.start({ epoch: 0 });
    stage.install(version('11.104'));
    await stage.start({ epoch: 1 });
    expect(await check()).toEqual(ok);
    expect(stage.versionAsked()).toBe(0);
  });

  it('does not ask for the version of a program that refuses its configuration', async () => {
    stage = envoyStage();
    await stage.start({});
    stage.install(validating('exit 1'));
    expect(await check()).toMatchObject({ kind: 'refused' });
    expect(stage.versionAsked()).toBe(0);
  });
});
