import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Fatal } from '../../../../src/shared/program/exit.ts';
import { configCheck } from '../../../../src/pilot-agent/cli/config-check.ts';

describe('config check', () => {
  let folder = '';
  let path = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'config-check-'));
    path = join(folder, 'agent.yaml');
  });
  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  /** Returns the lines that a check prints for a text, without the path, and how the check ends. */
  async function check(text?: string): Promise<readonly [lines: readonly string[], end: unknown]> {
    if (text !== undefined) writeFileSync(path, text);
    const lines: string[] = [];
    vi.spyOn(console, 'log').mockImplementation(
      (line: string) => void lines.push(line.replace(path, 'FILE')),
    );
    const end: unknown = await configCheck(path).then(
      () => 'ok',
      (error: unknown) =>
        error instanceof Fatal ? [error.code, error.message.replace(path, 'FILE')] : error,
    );
    return [lines, end];
  }

  it('tells that a file is in order', async () => {
    expect(await check('minDelay: 1s')).toEqual([['FILE is in order'], 'ok']);
    expect(await check('')).toEqual([['FILE is in order'], 'ok']);
  });

  it('tells each mistake in the order of the file, with line and column, and what is meant', async () => {
    const text = `# yaml-language-server: $schema=pilot-agent.schema.json
minDelay: 5
minDelai: 1s
proxyConfig:
  drain_duration: soon
sources:
  - kind: http
    url: ftp://user:hush@x
  - {kind: files, name: a, paths: [""], path: x}
environment:
  CA_ADDR: nobody
  SECRET_TTLL: 3
  PILOT_AGENT_METRICS_TARGETS: '[{"port":0}]'
probers:
  /app-health/a/readyz: {httpGet: {path: x}}
`;
    expect(await check(text)).toEqual([
      [
        "FILE:2:11: minDelay: 5 is not a duration (such as '45s' or '1m30s')",
        'FILE:3:1: minDelai: is not known: did you mean minDelay?',
        "FILE:5:19: proxyConfig.drainDuration: 'soon' is not a duration (such as '45s' or '1m30s')",
        'FILE:7:5: sources[0].name: is missing: it has to be a name without spaces',
        'FILE:8:10: sources[0].url: is not an http or https URL',
        'FILE:9:36: sources[1].paths[0]: an empty text is not a path',
        'FILE:9:41: sources[1].path: is not known: did you mean paths?',
        "FILE:11:12: environment.CA_ADDR: 'nobody' is not host:port",
        'FILE:12:3: environment.SECRET_TTLL: is not known: did you mean SECRET_TTL?',
        "FILE:13:32: environment.PILOT_AGENT_METRICS_TARGETS: port '0' is not a port (1 to 65535)",
        'FILE:15:3: probers./app-health/a/readyz: invalid prober type httpGet: port must be int type, from 1 to 65535',
      ],
      [78, 'FILE has 11 mistakes'],
    ]);
  });

  it('tells warnings too, which are not mistakes', async () => {
    expect(
      await check('proxyConfig:\n  drainDuratoin: 1s\n  colour: red\nconfigUrlCAFile: /ca'),
    ).toEqual([
      [
        'FILE:2:3: warning: proxyConfig.drainDuratoin: is not known here (did you mean drainDuration?): the control plane gets it as it is',
        'FILE:3:3: warning: proxyConfig.colour: is not known here: the control plane gets it as it is',
        'FILE:4:18: warning: configUrlCAFile: has no effect without --configUrl, and is ignored',
        'FILE is in order',
      ],
      'ok',
    ]);
  });

  it('tells where a text cannot be parsed, and that a file is not there', async () => {
    expect(await check('a: b: c')).toEqual([
      ['FILE:1:4: Nested mappings are not allowed in compact mappings'],
      [78, 'FILE has a mistake'],
    ]);
    rmSync(path);
    expect(await check()).toEqual([
      [expect.stringMatching(/^FILE: cannot be read: ENOENT/)],
      [78, 'FILE has a mistake'],
    ]);
  });
});
