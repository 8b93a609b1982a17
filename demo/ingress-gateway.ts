import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CertificateAuthority } from './certificates.ts';
import { type Command, meshAgent, type ProxyPorts } from './mesh-agent.ts';

export interface GatewayPorts extends ProxyPorts {
  /** The port of the gateway for HTTPS, at 127.0.0.1. */
  readonly https: number;
}

/** A gateway in front of a mesh, ready to be started. */
export interface IngressGateway {
  /** The command of `pilot-agent`. */
  readonly agent: Command;
  /** The file of the root that has signed the gateway's certificate. */
  readonly root: string;
}

/** The namespace of the client, in which `echo.mesh` is visible; and the name of the secret. */
const [namespace, secret] = ['shop', 'front'];

/**
 * Makes a gateway for the mesh below `folder`: its Gateway in `configDir`, a certificate for
 * localhost in the folder of secrets of its agent, and one of the mesh.
 */
export async function ingressGateway(
  folder: string,
  { configDir, ca }: { readonly configDir: string; readonly ca: CertificateAuthority },
  { xds, gateway: ports }: { readonly xds: number; readonly gateway: GatewayPorts },
): Promise<IngressGateway> {
  const secrets = join(folder, 'gateway', 'secrets');
  mkdirSync(join(secrets, secret), { recursive: true });
  const { certChain, key, rootCert } = await ca.issue();
  writeFileSync(join(secrets, secret, 'tls.crt'), certChain);
  writeFileSync(join(secrets, secret, 'tls.key'), key, { mode: 0o600 });
  const root = join(folder, 'root.pem');
  writeFileSync(root, rootCert);
  writeFileSync(join(configDir, '50-gateway.yaml'), resource(ports.https));
  const labels = { istio: 'ingressgateway' };
  const agent = await meshAgent(folder, xds, ca, {
    ...{ role: 'router', name: 'gateway', namespace, address: '127.0.0.22', labels, ports },
    env: { GATEWAY_SECRETS: secrets },
  });
  return { agent, root };
}

const resource = (
  https: number,
) => `# Clients from outside: HTTPS with the secret '${secret}', which the agent of the gateway serves.
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: { name: front, namespace: ${namespace} }
spec:
  selector: { istio: ingressgateway }
  servers:
    - port: { number: ${https}, name: https, protocol: HTTPS }
      bind: 127.0.0.1
      hosts: ['*']
      tls: { mode: SIMPLE, credentialName: ${secret} }
`;
