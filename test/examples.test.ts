import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { commandLines, commands, optionExamples, ownOptions } from '../scripts/docs/commands.ts';
import {
  discoveryCommands,
  discoveryPaths,
  discoveryVariables,
} from '../scripts/docs/discovery.ts';
import { exampleOf, fieldPaths } from '../scripts/docs/layers.ts';
import { curl, endpoints, probeKinds } from '../scripts/docs/http.ts';
import { shellWord, typedFlag, typedVariable } from '../scripts/docs/markdown.ts';
import { variables } from '../scripts/docs/variables.ts';
import { program, spelledOut } from '../src/pilot-agent/cli/program.ts';
import type { GivenFlags } from '../src/pilot-agent/config/flag-layer.ts';
import { readConfigFile } from '../src/pilot-agent/config/config-file.ts';
import {
  fileExamples,
  messageExamples,
  sourceExamples,
} from '../src/pilot-agent/config/schema-texts.ts';
import { flags } from '../src/pilot-agent/config/flags.ts';
import { logFlags } from '../src/shared/log/log-flags.ts';
import { logOptions } from '../src/shared/log/log-options.ts';
import type { Flag } from '../src/shared/text/flag.ts';
import { routes } from '../src/pilot-agent/status/routes.ts';
import {
  connectedAnswers,
  debugAnswers,
  proxyAnswers,
} from '../src/pilot-discovery/debug/debug-answers.ts';
import { program as discoveryProgram, spelledAsKnown } from '../src/pilot-discovery/cli/program.ts';
import { discoveryConfig } from '../src/pilot-discovery/run/discovery-config.ts';
import { type DiscoveryFlag, discoveryFlags } from '../src/pilot-discovery/run/discovery-flags.ts';
import { resolved } from './support/resolved.ts';
import { read } from './support/source-text.ts';
import { statusParts } from './support/status-parts.ts';

/** Returns the words of each command line, as a shell has them. */
function words(lines: readonly string[]): readonly (readonly string[])[] {
  const script = lines.map((line) => `printf '%s\\0' ${line}; printf '\\1'`).join('\n');
  const text = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
  return text
    .split('\u0001')
    .slice(0, -1)
    .map((part) => part.split('\0').slice(0, -1));
}

const flagRows = Object.entries<Flag>({ ...flags, ...logFlags });
const variableRows = Object.values(variables).flat();

/** Other flags without which a flag has no effect, or is wrong. */
const lightstep = {
  lightstepAddress: flags.lightstepAddress.example,
  lightstepAccessToken: flags.lightstepAccessToken.example,
};
const lightstepFields = {
  address: flags.lightstepAddress.example,
  accessToken: flags.lightstepAccessToken.example,
};
const configUrl = { configUrl: flags.configUrl.example };
const companions: Readonly<Record<string, GivenFlags>> = {
  lightstepAddress: lightstep,
  lightstepAccessToken: lightstep,
  lightstepSecure: lightstep,
  lightstepCacertPath: lightstep,
  configUrlCAFile: configUrl,
  configUrlTokenFile: configUrl,
  noProxy: { ...configUrl, httpProxy: flags.httpProxy.example },
};

describe('the examples of pilot-agent', () => {
  it.each(flagRows)('have a good value of --%s', (name, flag) => {
    const { value, example, default: standard, ignored, repeated } = flag;
    const isLog = Object.hasOwn(logFlags, name);
    const [given = []] = words([typedFlag(name, value, example)]);
    const all = program();
    const command = isLog ? all : all.commands.find((subcommand) => subcommand.name() === 'proxy');
    const parsed = command?.parseOptions([...spelledOut(given, flags, logFlags)]);
    expect(parsed).toEqual({ operands: [], unknown: [] });
    const option = command?.options.find(({ long }) => long === `--${name}`);
    const text: unknown = command?.getOptionValue(option?.attributeName() ?? '');
    expect(text).toEqual(isLog || repeated === true ? [example] : example);
    const { ok, problems, warnings } = isLog
      ? { problems: [], warnings: [], ...logOptions({ [name]: example }) }
      : {
          problems: [],
          warnings: [],
          ...resolved({ given: { ...companions[name], [name]: text } }),
        };
    expect(problems).toEqual([]);
    expect(ok).toBe(true);
    const isIgnored = ignored === true || flag.text.startsWith('ignored: ');
    expect(warnings).toHaveLength(isIgnored ? 1 : 0);
    expect(example).not.toBe(standard);
  });

  it.each([...commands()])('have command lines of %s, and each of its options', (name, command) => {
    expect(commandLines(name)).not.toEqual([]);
    const ofAgent = commandLines(name).filter((line) => line.startsWith('pilot-agent '));
    expect(ofAgent).not.toEqual([]);
    for (const [, ...rest] of words(ofAgent)) {
      const given = rest.slice(name.split(' ').length);
      expect(rest.join(' ')).toMatch(new RegExp(`^${name}(?: |$)`));
      const end = given.indexOf('--');
      const ours = end < 0 ? given : given.slice(0, end);
      const { operands, unknown } = command.parseOptions([...spelledOut(ours, flags, logFlags)]);
      expect(unknown).toEqual([]);
      const least = command.registeredArguments.filter(({ required }) => required).length;
      expect(end < 0 ? operands.length : given.length - end - 1).toBeGreaterThanOrEqual(least);
    }
    for (const { long, required } of ownOptions(command)) {
      const [option = []] = words([optionExamples[`${name} ${long ?? ''}`] ?? '']);
      expect(option).toHaveLength(required ? 2 : 1);
      expect(command.parseOptions([...option])).toEqual({ operands: [], unknown: [] });
    }
  });

  it('have no option that a command does not have', () => {
    const all = [...commands()].flatMap(([name, command]) =>
      ownOptions(command).map(({ long }) => `${name} ${long ?? ''}`),
    );
    expect(Object.keys(optionExamples)).toEqual(all);
  });

  it.each(variableRows)('have a good value of $name', ({ name, example, standard }) => {
    expect(words([typedVariable(name, example)])).toEqual([[`${name}=${example}`]]);
    const flag = flagRows.find(([, { variable }]) => variable === name)?.[0] ?? '';
    const resolution = resolved({ given: companions[flag] ?? {}, env: { [name]: example } });
    expect(resolution).toMatchObject({ ok: true, warnings: [] });
    expect(example).not.toBe(standard);
  });
});

describe('the examples of a configuration file', () => {
  const nested = (path: string, value: unknown): unknown =>
    path.split('.').reduceRight<unknown>((below, name) => ({ [name]: below }), value);

  /** Other fields without which a field is wrong. */
  const around: readonly (readonly [prefix: string, fields: object])[] = [
    ['envoyMetricsService.', { address: exampleOf('envoyMetricsService.address') }],
    ['envoyAccessLogService.', { address: exampleOf('envoyAccessLogService.address') }],
    ['tracing.lightstep.', lightstepFields],
  ];

  it.each(fieldPaths())('have a good value of %s', (path) => {
    const value: unknown = parseYaml(exampleOf(path));
    const [prefix = '', more = {}] = around.find(([start]) => path.startsWith(start)) ?? [];
    const name = path.slice(prefix.length);
    const proxyConfig =
      prefix === '' ? nested(path, value) : nested(prefix.slice(0, -1), { ...more, [name]: value });
    expect(resolved({ proxyConfig })).toMatchObject({ ok: true, warnings: [] });
  });

  it.each(Object.entries(messageExamples))('have a good %s', (name, message) => {
    const proxyConfig = {
      envoyMetricsService: { address: 'metrics:9000', [name]: message },
    };
    expect(resolved({ proxyConfig })).toMatchObject({ ok: true, warnings: [] });
  });

  it.each(Object.entries(fileExamples))('have a good member %s', (name, example) => {
    const content = { ok: true, value: { [name]: parseYaml(example) as unknown } } as const;
    expect(readConfigFile('agent.yaml', content).problems).toEqual([]);
  });

  it('have good sources', () => {
    const content = { ok: true, value: { sources: sourceExamples } } as const;
    expect(readConfigFile('agent.yaml', content).problems).toEqual([]);
  });
});

describe('the examples of the status port', () => {
  const handlerOf = routes(statusParts());

  it.each(endpoints.map((endpoint) => [curl(endpoint), endpoint] as const))(
    'have a path that is served: %s',
    (line, { method, path }) => {
      const [curlWords = []] = words([line]);
      const url = new URL(`http://${curlWords.at(-1) ?? ''}`);
      expect(url.pathname.startsWith(path)).toBe(true);
      expect(url.port).toBe(flags.statusPort.default);
      expect(curlWords.includes('-X') ? curlWords[curlWords.indexOf('-X') + 1] : 'GET').toBe(
        method,
      );
      expect(handlerOf(url.pathname)).not.toBe(handlerOf('/no-such-path'));
      expect(line).not.toMatch(/[<>…]/);
    },
  );

  it.each(probeKinds)('have a good probe of $kind', ({ kind, example }) => {
    const probes = JSON.stringify({ '/app-health/app/readyz': { [kind]: example } });
    expect(resolved({ env: { ISTIO_KUBE_APP_PROBERS: probes } })).toMatchObject({
      ok: true,
      warnings: [],
    });
  });
});

describe('the examples of pilot-discovery', () => {
  const page = read('docs/reference/pilot-discovery.md');

  it.each(Object.entries<DiscoveryFlag>(discoveryFlags))(
    'have a good value of --%s',
    (name, { example, default: standard, ignored }) => {
      const [given = []] = words([`--${name} ${shellWord(example)}`]);
      const command = discoveryProgram().commands.find(
        (subcommand) => subcommand.name() === 'discovery',
      );
      expect(command?.parseOptions([...spelledAsKnown(given)])).toEqual({
        operands: [],
        unknown: [],
      });
      expect(command?.getOptionValue(name)).toBe(example);
      const { problems, warnings } = discoveryConfig({ [name]: example }, {});
      expect(problems).toEqual([]);
      expect(warnings).toHaveLength(ignored === true ? 1 : 0);
      expect(example).not.toBe(standard);
      expect(page).toContain(`\n| \`--${name} ${shellWord(example)}\` | `);
    },
  );

  it.each(discoveryVariables)('have a good value of $name', ({ name, example, standard }) => {
    expect(words([typedVariable(name, example)])).toEqual([[`${name}=${example}`]]);
    expect(discoveryConfig({}, { [name]: example }).problems).toEqual([]);
    expect(discoveryConfig({}, { [name]: example }).config).not.toEqual(
      discoveryConfig({}, {}).config,
    );
    expect(example).not.toBe(standard);
  });

  it('have each command with each of its options', () => {
    const commands = discoveryProgram().commands;
    expect(Object.keys(discoveryCommands)).toEqual(commands.map((command) => command.name()));
    for (const command of commands) {
      const lines = words(discoveryCommands[command.name()] ?? []);
      const least = command.registeredArguments.filter(({ required }) => required).length;
      for (const [program, name, ...args] of lines) {
        expect([program, name]).toEqual(['pilot-discovery', command.name()]);
        const { operands, unknown } = command.parseOptions(args);
        expect(unknown).toEqual([]);
        expect(operands.length).toBeGreaterThanOrEqual(least);
      }
      const allWords = lines.flat();
      const unsaid = command.options.filter(
        ({ long, short }) => !allWords.some((word) => word === long || word === short),
      );
      if (command.name() !== 'discovery') expect(unsaid).toEqual([]);
    }
  });

  it('have a line of curl for each path', () => {
    const urls = words(discoveryPaths().map(([line]) => line)).map((line) => {
      expect(line[0]).toBe('curl');
      return new URL(`http://${line.at(-1) ?? ''}`);
    });
    const flagOf = new Map<string, string>([
      [discoveryFlags.httpAddr.default, 'httpAddr'],
      [discoveryFlags.monitoringAddr.default, 'monitoringAddr'],
    ]);
    const [ofHttp, ofMonitoring] = ['httpAddr', 'monitoringAddr'].map((flag) =>
      urls.filter(({ port }) => flagOf.get(`:${port}`) === flag).map(({ pathname }) => pathname),
    );
    expect(ofHttp).toEqual([
      '/ready',
      '/confirm',
      ...Object.keys(debugAnswers),
      ...Object.keys(connectedAnswers),
      ...Object.keys(proxyAnswers),
    ]);
    expect(ofMonitoring).toEqual(['/metrics']);
    const withProxy = urls
      .filter(({ searchParams }) => searchParams.has('proxyID'))
      .map(({ pathname }) => pathname);
    expect(withProxy).toEqual(Object.keys(proxyAnswers));
  });
});
