import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkCustomConfig, checkedConfig } from '../../../../src/pilot-agent/run/check-config.ts';
import { allOf, Fatal } from '../../../../src/shared/program/exit.ts';
import { resolved, type TestConfig } from '../../../support/resolved.ts';

describe('a configuration', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'check-config-'))));
  afterEach(() => rmSync(folder, { recursive: true }));

  const check = (testConfig: TestConfig) => checkedConfig(resolved(testConfig));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it('that is in order comes with what follows from it', async () => {
    const { config, plan, xds } = await check({ given: { configPath: folder } });
    expect(config.configPath).toBe(folder);
    expect([plan.socket, xds?.socket]).toEqual([join(folder, 'SDS'), join(folder, 'XDS')]);
  });

  it('tells all at once that is wrong with it, and with what it names', async () => {
    const template = file('t.json', '{{ .nodeID }}\n{{ if .x }}');
    const testConfig: TestConfig = {
      given: { templateFile: template, concurrency: '-1' },
      logFlags: { log_as_json: 'maybe' },
      proxyConfig: { drainDuration: 'long' },
      env: {
        CA_ADDR: 'nobody',
        PILOT_CERT_PROVIDER: 'someone',
        ISTIO_METAJSON_LABELS: '{',
      },
    };
    const error: unknown = await check(testConfig).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Fatal);
    expect((error as Fatal).code).toBe(78);
    const expected = [
      /^--concurrency: /,
      /^PROXY_CONFIG\.drainDuration: /,
      /^CA_ADDR: 'nobody' is not host:port$/,
      /^--log_as_json: /,
      /^ISTIO_METAJSON_LABELS: is not JSON, such as '\{"app":"shop"\}'$/,
      /t\.json: line 2: \{\{ if \}\} is not supported/,
      /^PILOT_CERT_PROVIDER: 'someone' is not one of istiod, kubernetes, custom, system$/,
    ];
    const problems = (error as Fatal).message.split('; ');
    expect(problems).toHaveLength(expected.length);
    expected.forEach((pattern, index) => expect(problems[index]).toMatch(pattern));
  });

  it.each<[what: string, makeConfig: () => TestConfig, why: RegExp]>([
    [
      'a template that is not there',
      () => ({ given: { templateFile: join(folder, 'none') } }),
      /none: cannot be read: ENOENT/,
    ],
    [
      'metadata that Pilot would not understand',
      () => ({ env: { ISTIO_METAJSON_A: '{"LABELS":1}' } }),
      /^ISTIO_METAJSON_A: LABELS is not an object of texts/,
    ],
  ])('names %s, with 78', async (_what, makeConfig, why) => {
    await expect(check(makeConfig())).rejects.toMatchObject({
      code: 78,
      message: expect.stringMatching(why) as string,
    });
  });

  it('that is the user’s own has to be a file that can be read', () => {
    const custom = (customConfigFile: string) => () =>
      checkCustomConfig(resolved({ given: { customConfigFile } }));
    expect(custom(join(folder, 'none'))).toThrow(
      /^--customConfigFile .*none cannot be read: ENOENT/,
    );
    expect(custom(folder)).toThrow(
      /^--customConfigFile .* cannot be read: it is a directory, and not a regular file$/,
    );
    custom(file('envoy.json', '{}'))();
    checkCustomConfig(resolved({ proxyConfig: { customConfigFile: 7 } }));
  });

  it.each(['ca', 'ca:', 'ca:0', 'ca:70000', ':15012', 'https://ca:15012', 'c a:1', '[::1:15012'])(
    'refuses CA_ADDR=%s',
    async (CA_ADDR) => {
      await expect(check({ env: { CA_ADDR } })).rejects.toEqual(
        new Fatal(`CA_ADDR: '${CA_ADDR}' is not host:port`, 78),
      );
    },
  );

  it.each(['ca:15012', 'my_ca:1', '[::1]:15012', '10.0.0.1:8060', ''])(
    'takes CA_ADDR=%s',
    async (CA_ADDR) => {
      await expect(check({ env: { CA_ADDR } })).resolves.toMatchObject({
        config: { secrets: { caAddress: CA_ADDR } },
      });
    },
  );

  it('asks nothing of what a custom configuration makes needless', async () => {
    const customConfigFile = file('envoy.json', '{}');
    await check({
      given: { customConfigFile, templateFile: '/none' },
      env: { ISTIO_METAJSON_A: '{' },
    });
  });

  it('does not look at what follows from a value that is wrong', async () => {
    const wrong = { ok: false, reason: 'line 1, column 1: bad' } as const;
    mkdirSync(join(folder, 'etc'));
    const mesh = { proxyBootstrapTemplatePath: '/none-of-the-mesh' };
    const problems = async (testConfig: TestConfig) =>
      ((await check(testConfig).catch((error: unknown) => error as Fatal)) as Fatal).message;
    expect(await problems({ mesh, layers: { proxyConfig: wrong } })).toBe(
      'PROXY_CONFIG: line 1, column 1: bad',
    );
    expect(await problems({ mesh, proxyConfig: { proxyBootstrapTemplatePath: 7 } })).toBe(
      'PROXY_CONFIG.proxyBootstrapTemplatePath: 7 is not a text',
    );
    expect(
      await problems({
        layers: { proxyConfig: wrong },
        given: { templateFile: '/none-of-a-flag' },
      }),
    ).toContain('/none-of-a-flag: cannot be read');
    expect(
      await problems({
        mesh: { proxyBootstrapTemplatePath: 7 },
        proxyConfig: { proxyBootstrapTemplatePath: '/none-above' },
      }),
    ).toContain('/none-above: cannot be read');
  });
});

describe('of several checks', () => {
  const fails = (message: string, code: number) => () => {
    throw new Fatal(message, code);
  };

  it('each gives what it gives', async () => {
    expect(await allOf([() => 1, () => Promise.resolve('a')])).toEqual([1, 'a']);
  });

  it.each([
    [[69, 64, 78], 78],
    [[69, 64], 64],
    [[69, 69], 69],
  ])('all that fail are told, and %j ends with %d', async (codes, code) => {
    const actions = codes.map((failureCode, index) => fails(String(index), failureCode));
    await expect(allOf(actions)).rejects.toEqual(
      new Fatal(codes.map((_, index) => index).join('; '), code),
    );
  });

  it('one with a bug is a bug', async () => {
    const bug = () => {
      throw new TypeError('x');
    };
    await expect(allOf([fails('a', 78), bug])).rejects.toThrow(TypeError);
  });
});
