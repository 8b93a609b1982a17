import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  discoveryCommands,
  discoveryPaths,
  discoveryVariables,
} from '../scripts/docs/discovery.ts';
import { shellWord, typedVariable } from '../scripts/docs/markdown.ts';
import { debugAnswers, proxyAnswers } from '../src/pilot-discovery/debug/debug-answers.ts';
import { program as discoveryProgram, spelledAsKnown } from '../src/pilot-discovery/cli/program.ts';
import { discoveryConfig } from '../src/pilot-discovery/run/discovery-config.ts';
import { type DiscoveryFlag, discoveryFlags } from '../src/pilot-discovery/run/discovery-flags.ts';
import { read } from './support/source-text.ts';

/** The words of each command line, as a shell has them. */
function words(lines: readonly string[]): readonly (readonly string[])[] {
  const script = lines.map((line) => `printf '%s\\0' ${line}; printf '\\1'`).join('\n');
  const text = execFileSync('sh', ['-c', script], { encoding: 'utf8' });
  return text
    .split('\u0001')
    .slice(0, -1)
    .map((part) => part.split('\0').slice(0, -1));
}

describe('the examples of pilot-discovery', () => {
  const page = read('docs/reference/pilot-discovery.md');

  it.each(Object.entries<DiscoveryFlag>(discoveryFlags))(
    'have a good value of --%s',
    (name, { example, default: standard, ignored }) => {
      const [given = []] = words([`--${name} ${shellWord(example)}`]);
      const command = discoveryProgram().commands.find((one) => one.name() === 'discovery');
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
      const said = lines.flat();
      const unsaid = command.options.filter(
        ({ long, short }) => !said.some((word) => word === long || word === short),
      );
      if (command.name() !== 'discovery') expect(unsaid).toEqual([]);
    }
  });

  it('have a line of curl for each path', () => {
    const asked = words(discoveryPaths().map(([line]) => line)).map((line) => {
      expect(line[0]).toBe('curl');
      return new URL(`http://${line.at(-1) ?? ''}`);
    });
    const flagOf = new Map([
      [discoveryFlags.httpAddr.default, 'httpAddr'],
      [discoveryFlags.monitoringAddr.default, 'monitoringAddr'],
    ]);
    const [ofHttp, ofMonitoring] = ['httpAddr', 'monitoringAddr'].map((flag) =>
      asked.filter(({ port }) => flagOf.get(`:${port}`) === flag).map(({ pathname }) => pathname),
    );
    expect(ofHttp).toEqual([
      '/ready',
      '/confirm',
      ...Object.keys(debugAnswers),
      ...Object.keys(proxyAnswers),
    ]);
    expect(ofMonitoring).toEqual(['/metrics']);
    const withProxy = asked
      .filter(({ searchParams }) => searchParams.has('proxyID'))
      .map(({ pathname }) => pathname);
    expect(withProxy).toEqual(Object.keys(proxyAnswers));
  });
});
