import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connects } from '../connects.ts';
import { eventually } from '../eventually.ts';

/**
 * Runs a real istiod with a MeshConfig over a folder with one file, while `work` runs. It uses the
 * two ports after `port` too. `script` is the program of `makeIstiod`; `get`, in the same folder,
 * unpacks istiod.
 */
export async function withMeshIstiod<T>(
  script: string,
  { mesh, yaml, port }: { readonly mesh: string; readonly yaml: string; readonly port: number },
  work: () => Promise<T>,
): Promise<T> {
  const place = mkdtempSync(join(tmpdir(), 'pilot-agent-istiod-'));
  const folder = join(place, 'resources');
  mkdirSync(folder);
  writeFileSync(join(folder, 'all.yaml'), yaml);
  const meshFile = join(place, 'mesh.yaml');
  writeFileSync(meshFile, `configSources: [{ address: "fs://${folder}" }]\n${mesh}`);
  const program = execFileSync(join(dirname(script), 'get'), ['pilot-discovery-1.26'], {
    encoding: 'utf8',
  }).trim();
  const addressAt = (offset: number) => `127.0.0.1:${port + offset}`;
  const child: ChildProcess = spawn(
    program,
    [
      ...['discovery', '--registries=', '--meshConfig', meshFile, '--ctrlz_port', '0'],
      ...['--grpcAddr', addressAt(0), '--httpAddr', addressAt(1), '--monitoringAddr', addressAt(2)],
      ...['--httpsAddr', '', '--secureGRPCAddr', ''],
    ],
    {
      stdio: 'ignore',
      env: {
        ...process.env,
        PILOT_ENABLE_ALPN_FILTER: 'false',
        PILOT_ENABLE_METADATA_EXCHANGE: 'false',
        PILOT_CERT_PROVIDER: 'none',
        ENABLE_CA_SERVER: 'false',
        POD_NAME: 'istiod',
        POD_NAMESPACE: 'istio-system',
        REVISION: 'default',
      },
    },
  );
  try {
    await eventually(() => connects(port));
    return await work();
  } finally {
    const exit = once(child, 'exit');
    if (child.kill('SIGKILL')) await exit;
    rmSync(place, { recursive: true });
  }
}
