import { ownMember } from '../../../shared/text/own-member.ts';
import { oneOf } from './members.ts';
import type { Protocol } from './values.ts';

/** Reads the member `protocol` of a port of Kubernetes. */
export const transport = oneOf({ TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' } as const, 'tcp');

/** By the first part of a port's name, or by its `appProtocol`. */
const protocols: Readonly<Record<string, Protocol>> = {
  http: 'http',
  http_proxy: 'http',
  http2: 'http2',
  grpc: 'grpc',
  https: 'https',
  tls: 'tls',
  tcp: 'tcp',
  mongo: 'mongo',
  redis: 'redis',
  mysql: 'mysql',
};

/** The values that Kubernetes itself defines for `appProtocol`. */
const kubernetesOwn: Readonly<Record<string, Protocol>> = {
  'kubernetes.io/h2c': 'http2',
  'kubernetes.io/ws': 'http',
  'kubernetes.io/wss': 'https',
};

/** SMTP, DNS, MySQL, MongoDB: with some of them the server speaks first. */
const ofServersThatSpeakFirst: readonly number[] = [25, 53, 3_306, 27_017];

/**
 * Returns the protocol of a Service's port: by its `appProtocol`, else by the part of its name
 * before the first `-`. If neither names one, it is detected on each connection. Pure.
 */
export function portProtocol(number: number, name: string, appProtocol: string): Protocol {
  const declared = (appProtocol === '' ? name : appProtocol).toLowerCase();
  const kubernetesProtocol = appProtocol === '' ? undefined : ownMember(kubernetesOwn, declared);
  if (kubernetesProtocol !== undefined) return kubernetesProtocol;
  if (declared.startsWith('grpc-web')) return 'grpc-web';
  return (
    ownMember(protocols, declared.split('-')[0] ?? '') ??
    (ofServersThatSpeakFirst.includes(number) ? 'tcp' : 'auto')
  );
}
