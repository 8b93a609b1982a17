import { join } from 'node:path';
import { certificateRequest } from '../src/pilot-agent/secrets/ca/certificate-request.ts';
import { type CertificateAuthority, writeCertificates } from './certificates.ts';

/** The arguments of a program, and the variables that it needs in addition to the environment. */
export interface Command {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The working directory; that of the demo, if left out. */
  readonly cwd?: string;
}

/** The ports of a proxy: Envoy's admin endpoint, the status port, Prometheus, health. */
export interface ProxyPorts {
  readonly admin: number;
  readonly status: number;
  readonly prometheus: number;
  readonly health: number;
}

interface MeshProxy {
  readonly role: 'sidecar' | 'router';
  readonly name: string;
  readonly namespace: string;
  /** The loopback address of this proxy alone. */
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: ProxyPorts;
  /** Further variables. */
  readonly env: Readonly<Record<string, string>>;
}

/** Makes a certificate for a proxy of the mesh below `folder`. Resolves to its agent's command. */
export async function meshAgent(
  folder: string,
  xds: number,
  ca: CertificateAuthority,
  { role, name, namespace, address, labels, ports, env }: MeshProxy,
): Promise<Command> {
  const certificates = join(folder, name, 'certs');
  const { csr, key } = await certificateRequest(
    `spiffe://cluster.local/ns/${namespace}/sa/${name}`,
    { algorithm: 'ECDSA', pkcs8: true },
  );
  const { certificate, serial } = await ca.sign(csr);
  writeCertificates(certificates, {
    certChain: certificate,
    key: key.toString('utf8'),
    rootCert: ca.rootCert,
    serial,
  });
  const flags = {
    discoveryAddress: `127.0.0.1:${xds}`,
    configPath: join(folder, name, 'run'),
    proxyAdminPort: String(ports.admin),
    statusPort: String(ports.status),
    proxyLogLevel: 'warning',
    proxyComponentLogLevel: 'misc:error',
  };
  return {
    args: [
      'proxy',
      role,
      ...Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]),
    ],
    env: {
      POD_NAME: `${name}-0`,
      POD_NAMESPACE: namespace,
      SERVICE_ACCOUNT: name,
      INSTANCE_IP: address,
      PROV_CERT: certificates,
      ISTIO_METAJSON_LABELS: JSON.stringify(labels),
      ENVOY_PROMETHEUS_PORT: String(ports.prometheus),
      ENVOY_STATUS_PORT: String(ports.health),
      ...env,
    },
  };
}
