import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnsecuredJWT } from 'jose';
import { type CaServer, startCaServer } from '../ca-server.ts';
import { makeRig, type Rig, type RunningAgent } from './rig.ts';

/** A rig whose agent gets its certificate from a certificate authority. */
export interface SignedRig {
  readonly rig: Rig;
  readonly authority: CaServer;
  /** The file of the agent's token. */
  readonly token: string;
  /**
   * Starts the agent. `program` is the path of another program for Node with the same command line.
   */
  start(env?: NodeJS.ProcessEnv, flags?: readonly string[], program?: string): RunningAgent;
  dispose(): Promise<void>;
}

const variables = ['SERVER', 'CLIENT'].flatMap((side) =>
  ['CERT_CHAIN', 'KEY', 'ROOT_CERT'].map((file) => `ISTIO_META_TLS_${side}_${file}`),
);
/** The environment that names no certificate file. Only the root is in `etc/certs`. */
const unnamed = Object.fromEntries(variables.map((name) => [name, '']));

export async function makeSignedRig(): Promise<SignedRig> {
  const rig = await makeRig({ secret: 'default' });
  const { rootCert: roots, certChain: chain, key } = await rig.ca.issue();
  const authority = await startCaServer(rig.ca, { tls: { roots, chain, key, asksClient: false } });
  mkdirSync(join(rig.folder, 'etc', 'certs'), { recursive: true });
  writeFileSync(join(rig.folder, 'etc', 'certs', 'root-cert.pem'), roots);
  // The agent runs in the rig's folder, where its token is.
  const token = join(rig.folder, 'var', 'run', 'secrets', 'tokens', 'istio-token');
  mkdirSync(join(token, '..'), { recursive: true });
  const inAnHour = Math.floor(Date.now() / 1000) + 3600;
  writeFileSync(
    token,
    new UnsecuredJWT({})
      .setSubject('system:serviceaccount:default:sleep')
      .setExpirationTime(inAnHour)
      .encode(),
  );
  return {
    rig,
    authority,
    token,
    start(env = {}, flags = [], program?: string) {
      const signed = { CA_ADDR: `127.0.0.1:${authority.port}`, PILOT_CERT_PROVIDER: 'custom' };
      return rig.start(flags, {
        cwd: rig.folder,
        env: { ...unnamed, ...signed, ...env },
        ...(program !== undefined && { program }),
      });
    },
    async dispose() {
      authority.close();
      await rig.dispose();
    },
  };
}
