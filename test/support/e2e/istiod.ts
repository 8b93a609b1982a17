import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connects } from '../connects.ts';
import { eventually } from '../eventually.ts';

/** A real control plane over a folder of Istio resources. */
export interface Istiod {
  /** The folder of its YAML files. */
  readonly folder: string;
  /**
   * Starts it, or starts it again. Resolves when it accepts connections on its port and the next
   * one; otherwise rejects with the end of its output.
   */
  start(): Promise<void>;
  stop(): Promise<void>;
  /**
   * Makes `host` a service. The sidecar listens for it on `port`; its endpoint is
   * 127.0.0.1:`target`.
   */
  serve(host: string, port: number, target: number): void;
  /** Writes a resource of Istio to a file of this name. */
  put(name: string, resource: object): void;
  /** Removes a file that {@link serve} or {@link put} has written. */
  remove(name: string): void;
  dispose(): Promise<void>;
}

/**
 * Makes an istiod that is run as `program FOLDER PORT`. It uses the two ports after `port` too.
 *
 * @param mesh the YAML that is appended to its MeshConfig
 * @param networks its MeshNetworks, as YAML
 */
export function makeIstiod(program: string, port: number, mesh = '', networks = ''): Istiod {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-agent-istiod-'));
  const temporary = mkdtempSync(join(tmpdir(), 'pilot-agent-istiod-mesh-'));
  const home = mkdtempSync(join(tmpdir(), 'pilot-agent-istiod-home-'));
  if (networks !== '') {
    mkdirSync(join(home, 'etc/istio/config'), { recursive: true });
    writeFileSync(join(home, 'etc/istio/config/meshNetworks'), networks);
  }
  let child: ChildProcess | undefined;
  /**
   * Appends `mesh` to the MeshConfig, which the program writes to a temporary file that istiod
   * watches.
   */
  const addMesh = async (): Promise<void> => {
    const isWritten = () => readdirSync(temporary).some((name) => sizeOf(name) > 0);
    await eventually(isWritten);
    for (const name of readdirSync(temporary)) appendFileSync(join(temporary, name), mesh);
  };
  const sizeOf = (name: string) => statSync(join(temporary, name)).size;
  const istiod: Istiod = {
    folder,
    async start() {
      const printed = openSync(join(home, 'printed'), 'w');
      child = spawn(program, [folder, String(port)], {
        cwd: home,
        stdio: ['ignore', printed, printed],
        detached: true,
        env: { ...process.env, ENABLE_TLS_ON_SIDECAR_INGRESS: 'true', TMPDIR: temporary },
      });
      closeSync(printed);
      if (mesh !== '') await addMesh();
      try {
        for (const needed of [port, port + 1]) await eventually(() => connects(needed));
      } catch (cause) {
        const text = readFileSync(join(home, 'printed'), 'utf8');
        throw new Error(`istiod does not start: ${text.slice(-2_000)}`, { cause });
      }
    },
    async stop() {
      const ended = new Promise((done) => child?.once('exit', done));
      if (child?.pid !== undefined && child.exitCode === null) {
        process.kill(-child.pid, 'SIGKILL');
        await ended;
      }
      child = undefined;
      await eventually(async () => !(await connects(port)));
    },
    serve(host, address, target) {
      const resource = {
        apiVersion: 'networking.istio.io/v1',
        kind: 'ServiceEntry',
        metadata: { name: host.replaceAll('.', '-'), namespace: 'ns' },
        spec: {
          hosts: [host],
          location: 'MESH_EXTERNAL',
          resolution: 'STATIC',
          ports: [{ number: address, name: 'http', protocol: 'HTTP' }],
          endpoints: [{ address: '127.0.0.1', ports: { http: target } }],
        },
      };
      istiod.put(host, resource);
    },
    put(name, resource) {
      writeFileSync(join(folder, `${name}.yaml`), JSON.stringify(resource));
    },
    remove(name) {
      rmSync(join(folder, `${name}.yaml`));
    },
    async dispose() {
      await istiod.stop();
      for (const path of [folder, temporary, home]) rmSync(path, { recursive: true, force: true });
    },
  };
  return istiod;
}
