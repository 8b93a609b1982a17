import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import packageJson from '../../../../package.json' with { type: 'json' };
import { printVersion, type VersionOptions } from '../../../../src/pilot-agent/cli/version.ts';

const { version } = packageJson;
const node = process.version;

describe('printVersion', () => {
  let printed: string[];

  beforeEach(() => {
    printed = [];
    vi.spyOn(console, 'log').mockImplementation((text: string) => void printed.push(text));
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each<{ what: string; options: VersionOptions; text: string }>([
    { what: 'one line', options: {}, text: `pilot-agent ${version} (Node ${node})` },
    { what: 'the number with --short', options: { short: true }, text: version },
    {
      what: 'the number with --short, whatever the output',
      options: { short: true, output: 'json' },
      text: version,
    },
    {
      what: 'JSON, indented by two',
      options: { output: 'json' },
      text: `{\n  "clientVersion": {\n    "version": "${version}",\n    "node_version": "${node}"\n  }\n}`,
    },
    {
      what: 'YAML',
      options: { output: 'yaml' },
      text: `clientVersion:\n  version: ${version}\n  node_version: ${node}`,
    },
  ])('prints $what', ({ options, text }) => {
    printVersion(options);
    expect(printed).toEqual([text]);
  });
});
