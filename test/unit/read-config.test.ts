import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/run/effective-config.ts';

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
  const read = (config?: string) => readConfig({ given: config === undefined ? {} : { config }, leftover: [] });

  it.each(['flag', 'variable'])(
    'by a %s is read, with the mesh file that it names; its variables give way to those of the process',
    async (by) => {
      const mesh = join(folder, 'mesh.yaml');
      writeFileSync(mesh, 'defaultConfig: {connectTimeout: 3s}');
      writeFileSync(path, `meshConfig: ${mesh}\nminDelay: 3s\nenvironment: {POD_NAME: file, POD_NAMESPACE: file}`);
      vi.stubEnv('POD_NAME', 'process');
      if (by === 'variable') vi.stubEnv('PILOT_AGENT_CONFIG', path);
      expect(await read(by === 'flag' ? path : undefined)).toMatchObject({
        ok: true,
        config: { minDelay: 3_000, connectTimeout: 3_000, podName: 'process', podNamespace: 'file', configFile: path },
        sources: { minDelay: `config file ${path}`, configFile: by === 'flag' ? '--config' : '$PILOT_AGENT_CONFIG' },
      });
    },
  );

  it('has to be there, and has to be YAML or JSON: the line says where', async () => {
    expect(await read(path)).toMatchObject({ ok: false, usage: false, problems: [{ place: `config file ${path}`, text: expect.stringMatching(/^cannot be read: ENOENT/) as string }] }); // prettier-ignore
    writeFileSync(path, 'minDelay: 3s\n  statusPort: 1');
    expect(await read(path)).toMatchObject({ ok: false, problems: [{ text: expect.stringMatching(/^line 1, column \d+: /) as string }] });
  });
});
