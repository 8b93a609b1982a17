import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import type { Command } from './mesh-agent.ts';
import { tokenIssuer } from './token-issuer.ts';

/** The control plane as the certificate authority of a mesh. */
export interface MeshAuthority {
  /** The command of a `pilot-discovery` that issues certificates by token, over TLS. */
  readonly discovery: Command;
  /** The file of the root, which `pilot-discovery` makes when it starts. */
  readonly rootFile: string;
  /**
   * Changes the command of an agent, so that the agent gets its certificate from this authority and
   * writes it into a folder. The root must exist before the call.
   */
  agent(command: Command): Command;
  /** Returns the folder of a proxy's certificate. */
  readonly certificatesOf: (name: string) => string;
  /**
   * Resolves to the root when `pilot-discovery` has made it, or to undefined if the signal aborts.
   */
  root(signal: AbortSignal): Promise<string | undefined>;
}

const audience = 'istio-ca';
const issuer = 'https://demo.mesh';
/** In s. */
const day = 86_400;
/** How long a certificate lasts. It is renewed after half of it. */
const lifetime = '4m';

/**
 * Makes a control plane the authority of a mesh, with its files below `folder`. A token has the
 * identity of each agent, as the kubelet's token has in a pod.
 *
 * @param port the port for agents
 */
export function meshAuthority(folder: string, discovery: Command, port: number): MeshAuthority {
  const tokens = tokenIssuer('demo');
  const authorityFile = join(folder, 'authority', 'root.pem');
  const rootFile = join(folder, 'mesh-root.pem');
  mkdirSync(join(folder, 'authority'), { mode: 0o700 });
  const certificatesOf = (name: string) => join(folder, name, 'issued');
  return {
    ...{ rootFile, certificatesOf },
    discovery: {
      args: [...discovery.args, '--secureGRPCAddr', `127.0.0.1:${port}`],
      env: {
        ...discovery.env,
        SELF_SIGNED_CA_FILE: authorityFile,
        ISTIOD_CUSTOM_HOST: 'localhost',
        JWT_RULE: JSON.stringify({ issuer, audiences: [audience], jwks: tokens.keys }),
      },
    },
    agent({ args, env: { PROV_CERT: files = '', ...env } }) {
      const { POD_NAMESPACE: namespace = '', SERVICE_ACCOUNT: name = '' } = env;
      const cwd = join(folder, name);
      const mount = (path: string, text: string) => {
        mkdirSync(join(cwd, 'var/run/secrets', path, '..'), { recursive: true });
        writeFileSync(join(cwd, 'var/run/secrets', path), text, { mode: 0o600 });
      };
      rmSync(files, { recursive: true });
      mount('istio/root-cert.pem', readFileSync(rootFile, 'utf8'));
      const claims = { iss: issuer, aud: audience, exp: Math.floor(Date.now() / 1_000) + 30 * day };
      mount(
        'tokens/istio-token',
        tokens.sign({ ...claims, sub: `system:serviceaccount:${namespace}:${name}` }),
      );
      const address = `localhost:${port}`;
      return {
        args: [
          ...args,
          ...['--discoveryAddress', address, '--controlPlaneAuthPolicy', 'MUTUAL_TLS'],
        ],
        env: {
          ...env,
          PILOT_CERT_PROVIDER: 'istiod',
          CA_ADDR: address,
          SECRET_TTL: lifetime,
          OUTPUT_CERTS: certificatesOf(name),
        },
        cwd,
      };
    },
    async root(signal) {
      while (!existsSync(authorityFile)) {
        if (signal.aborted) return undefined;
        await sleep(50);
      }
      const [root = ''] =
        /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----\n/.exec(
          readFileSync(authorityFile, 'utf8'),
        ) ?? [];
      writeFileSync(rootFile, root);
      return root;
    },
  };
}
