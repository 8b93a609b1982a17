import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../../../../src/pilot-agent/run/start/effective-config.ts';

/** The kinds of files that no user can read. */
const unreadable = [
  ['a directory', (path: string) => mkdirSync(path), /it is a directory/],
  ['a FIFO', (path: string) => execFileSync('mkfifo', [path]), /not a regular file/],
  ['a socket or device', (path: string) => symlinkSync('/dev/null', path), /not a regular file/],
  ['a loop of links', (path: string) => symlinkSync(path, path), /ELOOP/],
] as const;

describe.each(unreadable)('a file of the injection that is %s', (_, make, reason) => {
  let folder = '';
  const before = process.cwd();
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'read-config-'));
    process.chdir(folder);
    for (const place of ['config', 'pod']) mkdirSync(join('etc/istio', place), { recursive: true });
    for (const path of ['config/mesh', 'pod/annotations']) make(join(folder, 'etc/istio', path));
  });
  afterEach(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
  const matching = (text: RegExp) => expect.stringMatching(text) as string;
  const mesh = './etc/istio/config/mesh';

  it('is passed over beside an Envoy configuration of the user’s, whoever names that', async () => {
    const { passedOver, ...read } = await readConfig({
      given: { customConfigFile: 'envoy.yaml' },
      leftover: [],
    });
    expect(read).toMatchObject({ ok: true, warnings: [] });
    expect(passedOver.map((file) => file.reason)).toEqual([
      matching(/^mesh file \.\/etc\/istio\/config\/mesh cannot be read: /),
      matching(/^\.\/etc\/istio\/pod\/annotations is ignored: /),
    ]);
    for (const file of passedOver) expect(file.reason).toMatch(reason);
    writeFileSync('agent.yaml', 'customConfigFile: envoy.yaml');
    expect(await readConfig({ given: { config: 'agent.yaml' }, leftover: [] })).toMatchObject({
      ok: true,
      passedOver,
    });
  });

  it('is wrong if it is needed or named', async () => {
    const flaw = {
      ok: false,
      problems: [{ place: `mesh file ${mesh}`, text: matching(/^cannot be read/) }],
      passedOver: [],
    };
    expect(await readConfig({ given: {}, leftover: [] })).toMatchObject(flaw);
    expect(await readConfig({ given: { customConfigFile: '' }, leftover: [] })).toMatchObject(flaw);
    expect(
      await readConfig({
        given: { customConfigFile: 'envoy.yaml', meshConfig: mesh },
        leftover: [],
      }),
    ).toMatchObject({ ...flaw, passedOver: [{ reason: matching(/annotations/) }] });
  });
});

describe('a configuration file that is named', () => {
  let folder = '';
  let path = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'read-config-'));
    path = join(folder, 'agent.yaml');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  const read = (config?: string) =>
    readConfig({ given: config === undefined ? {} : { config }, leftover: [] });

  it.each(['flag', 'variable'])(
    'by a %s is read, with the mesh file that it names; its variables give way to those of the process',
    async (by) => {
      const mesh = join(folder, 'mesh.yaml');
      writeFileSync(mesh, 'defaultConfig: {connectTimeout: 3s}');
      writeFileSync(
        path,
        `meshConfig: ${mesh}\nminDelay: 3s\nenvironment: {POD_NAME: file, POD_NAMESPACE: file}`,
      );
      vi.stubEnv('POD_NAME', 'process');
      if (by === 'variable') vi.stubEnv('PILOT_AGENT_CONFIG', path);
      expect(await read(by === 'flag' ? path : undefined)).toMatchObject({
        ok: true,
        config: {
          minDelay: 3_000,
          connectTimeout: 3_000,
          podName: 'process',
          podNamespace: 'file',
          configFile: path,
        },
        sources: {
          minDelay: `config file ${path}`,
          configFile: by === 'flag' ? '--config' : '$PILOT_AGENT_CONFIG',
        },
      });
    },
  );

  it('has to be there, and has to be YAML or JSON: the line says where', async () => {
    expect(await read(path)).toMatchObject({
      ok: false,
      usage: false,
      problems: [
        {
          place: `config file ${path}`,
          text: expect.stringMatching(/^cannot be read: ENOENT/) as string,
        },
      ],
    });
    writeFileSync(path, 'minDelay: 3s\n  statusPort: 1');
    expect(await read(path)).toMatchObject({
      ok: false,
      problems: [{ text: expect.stringMatching(/^line 1, column \d+: /) as string }],
    });
  });
});
