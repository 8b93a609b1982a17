import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { twoSidecarsRig, type TwoSidecarsRig } from '../support/e2e/two-sidecars-rig.ts';

describe('a Telemetry over two real sidecars', () => {
  let rig: TwoSidecarsRig;
  let place = '';
  beforeAll(async () => {
    rig = await twoSidecarsRig();
    place = dirname(rig.configDir);
    const mesh = join(place, 'telemetry-mesh.yaml');
    const providers = ['calls', 'kept', 'arrived'].map((name) => ({
      name,
      envoyFileAccessLog: { path: logOf(name), logFormat: { text: '%REQ(:PATH)%' } },
    }));
    writeFileSync(mesh, JSON.stringify({ extensionProviders: providers }));
    rig.startDiscovery(['--meshConfig', mesh]);
    rig.startAgents();
    await eventually(async () => (await rig.ask()).status === 200);
  });
  afterAll(() => rig.dispose());

  const logOf = (name: string) => join(place, `${name}.log`);
  const linesOf = (name: string): readonly string[] =>
    existsSync(logOf(name)) ? readFileSync(logOf(name), 'utf8').trim().split('\n') : [];
  const log = (entries: string) => {
    rig.write(
      '90-telemetry.yaml',
      `apiVersion: telemetry.istio.io/v1\nkind: Telemetry\nmetadata: { name: a, namespace: istio-system }\nspec: { accessLogging: ${entries} }\n`,
    );
  };
  /** Requests the paths, one after the other, until a log contains the last one. */
  const askUntilLogged = (name: string, ...paths: readonly string[]) =>
    eventually(async () => {
      for (const path of paths) await rig.ask(path);
      return linesOf(name).includes(paths.at(-1) ?? '');
    });

  it('logs the calls that the client makes', async () => {
    log('[{ match: { mode: CLIENT }, providers: [{ name: calls }] }]');
    await askUntilLogged('calls', '/called');
  });

  it('logs what the filter lets through, and nothing else', async () => {
    log(
      `[{ match: { mode: CLIENT }, providers: [{ name: kept }], filter: { expression: "request.url_path.startsWith('/kept')" } }]`,
    );
    await askUntilLogged('kept', '/dropped', '/kept/a');
    expect([...new Set(linesOf('kept'))]).toEqual(['/kept/a']);
  });

  it('logs the calls that arrive', async () => {
    log('[{ match: { mode: SERVER }, providers: [{ name: arrived }] }]');
    await askUntilLogged('arrived', '/arrived');
  });
});
