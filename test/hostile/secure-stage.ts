import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import { generateKeyPairSync } from 'node:crypto';
import { certify } from '../../src/pilot-discovery/ca/certify.ts';
import { signingAuthority } from '../../src/pilot-discovery/ca/signing-authority.ts';
import { connects } from '../support/connects.ts';
import { eventually } from '../support/eventually.ts';
import { freePorts } from '../support/free-ports.ts';
import { pluggedAuthority } from '../support/plugged-authority.ts';
import { tokenIssuer } from '../../demo/token-issuer.ts';
import type { WorkloadPair } from '../support/workload-authority.ts';
import { type AttackedControlPlane, attackedControlPlane } from './control-plane.ts';
import type { SecureClient } from './secure-calls.ts';

/** A control plane with an authority, and an issuer of tokens that it trusts. */
export interface SecureStage {
  readonly plane: AttackedControlPlane;
  readonly port: number;
  readonly roots: string;
  /** Resolves to a client with a certificate of this account. */
  client(account: string, from?: string): Promise<SecureClient>;
  /** Returns a token of an account, in which these claims replace others. */
  token(account: string, instead?: Readonly<Record<string, unknown>>): string;
  dispose(): Promise<void>;
}

const hour = 3_600_000;
/** The issuer of tokens, and the audience that they need. */
export const [issuer, audience] = ['https://issuer.test', 'istio-ca'];
export const spiffe = (account: string): string => `spiffe://cluster.local/ns/shop/sa/${account}`;

export async function startSecureStage(
  env: Readonly<Record<string, string>> = {},
): Promise<SecureStage> {
  const folder = mkdtempSync(join(tmpdir(), 'pilot-attempts-'));
  const parts = await pluggedAuthority();
  const result = signingAuthority(parts, Date.now());
  if (!result.ok) throw new Error(result.reason);
  writeKubernetesVolume(join(folder, 'cacerts'), {
    'ca-cert.pem': parts.certificate,
    'ca-key.pem': parts.key.toString(),
    'cert-chain.pem': parts.chain,
    'root-cert.pem': parts.roots,
  });
  const [port = 0] = await freePorts(1);
  const tokens = tokenIssuer('one');
  const rule = { issuer, audiences: [audience], jwks: tokens.keys };
  const plane = await attackedControlPlane({
    flags: ['--secureGRPCAddr', `127.0.0.1:${port}`],
    env: {
      ROOT_CA_DIR: join(folder, 'cacerts'),
      ISTIOD_CUSTOM_HOST: '127.0.0.1,istiod.test',
      JWT_RULE: JSON.stringify(rule),
      ...env,
    },
  });
  await eventually(() => connects(port));
  const pairOf = async (account: string): Promise<WorkloadPair> => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const names = [['uri', spiffe(account)]] as const;
    const content = { publicKey, names, lifetime: hour };
    const { chain } = await certify(result.authority, content, Date.now());
    return {
      chain: chain.slice(0, -1).join(''),
      key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    };
  };
  return {
    ...{ plane, port, roots: parts.roots },
    client: async (account, from) => ({
      ...{ port, roots: parts.roots, from },
      pair: await pairOf(account),
    }),
    token: (account, instead = {}) =>
      tokens.sign({
        ...{ iss: issuer, aud: audience, sub: `system:serviceaccount:shop:${account}` },
        ...instead,
      }),
    async dispose() {
      await plane.dispose();
      rmSync(folder, { recursive: true });
    },
  };
}
