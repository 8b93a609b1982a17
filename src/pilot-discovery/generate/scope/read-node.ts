import { canonicalAddress } from '../../istio/fields/canonical.ts';
import { sentTracing } from '../../istio/telemetry/read-proxy-tracing.ts';
import type { ProxyNode } from './proxy-node.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import { isObject } from '../../../shared/text/is-object.ts';
import { parseBoolean } from '../../../shared/text/value.ts';

/** The node of a first request: an id, and the metadata as JSON. */
export interface RequestNode {
  readonly id: string;
  readonly cluster?: string;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** `role~address~name.namespace~domain` */
const form = /^(sidecar|router)~([^~]*)~([^~]*)~([^~]+)$/;

/**
 * Returns the properties of a proxy, from its id and its metadata; or, as a text, why its id is
 * invalid. If the metadata lacks a property, Istio's default applies. Pure.
 *
 * @param locality of the node, as `region/zone/subzone`; '' if it has none
 */
export function readNode(
  { id, cluster = '', metadata = {} }: RequestNode,
  locality: string,
): ProxyNode | string {
  const [, role, address = '', workload = '', dnsDomain = ''] = form.exec(id) ?? [];
  if (role === undefined)
    return `the node id '${id.slice(0, 200)}' is not role~address~name.namespace~domain`;
  const text = (key: string): string => {
    const value = ownMember(metadata, key);
    return typeof value === 'string' ? value : '';
  };
  /** Reads only texts and numbers: `Number` throws for some objects. */
  const port = (key: string): number => {
    const value = ownMember(metadata, key);
    return typeof value === 'string' || typeof value === 'number' ? Number(value) : 0;
  };
  const [name = '', ...rest] = workload.split('.');
  const [domainStart = ''] = dnsDomain.split('.');
  const addresses = namesIn(text('INSTANCE_IPS'));
  const mode = text('INTERCEPTION_MODE').toUpperCase();
  const labels = metadata['LABELS'];
  return {
    id,
    role: role as ProxyNode['role'],
    addresses: (addresses.length > 0 ? addresses : [address]).map(canonicalAddress),
    name,
    namespace: text('NAMESPACE') || text('CONFIG_NAMESPACE') || rest.join('.') || domainStart,
    dnsDomain,
    interception: mode === 'NONE' ? 'none' : mode === 'TPROXY' ? 'tproxy' : 'redirect',
    labels: isObject(labels) ? texts(labels) : {},
    serviceAccount: text('SERVICE_ACCOUNT'),
    clusterId: text('CLUSTER_ID'),
    cluster,
    meshId: text('MESH_ID'),
    tracing: sentTracing(ownMember(metadata, 'PROXY_CONFIG')),
    network: text('NETWORK'),
    networkView: namesIn(text('REQUESTED_NETWORK_VIEW')),
    ownPorts: [port('ENVOY_PROMETHEUS_PORT') || 15_090, port('ENVOY_STATUS_PORT') || 15_021],
    locality,
    ownCluster: isTrue(text('ENABLE_SELF_DISCOVERY')) ? 'known' : 'unknown',
    bindable: isTrue(text('UNPRIVILEGED_POD')) ? 'unprivileged' : 'any',
    http10: text('HTTP10') === '1' ? 'accepted' : 'refused',
    exactBalance: {
      inbound: isTrue(text('INBOUND_LISTENER_EXACT_BALANCE')),
      outbound: isTrue(text('OUTBOUND_LISTENER_EXACT_BALANCE')),
    },
    istioVersion: text('ISTIO_VERSION'),
    credentials: isTrue(text('GATEWAY_SECRETS')) ? 'agent' : 'control-plane',
    tls: tlsFiles(text),
  };
}

/** Returns the names in a list with commas. */
function namesIn(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function tlsFiles(text: (key: string) => string): ProxyNode['tls'] {
  return {
    clientCertChain: text('TLS_CLIENT_CERT_CHAIN'),
    clientKey: text('TLS_CLIENT_KEY'),
    clientRootCert: text('TLS_CLIENT_ROOT_CERT'),
    serverCertChain: text('TLS_SERVER_CERT_CHAIN'),
    serverKey: text('TLS_SERVER_KEY'),
    serverRootCert: text('TLS_SERVER_ROOT_CERT'),
  };
}

/** Parses a boolean as Go does, since Istio writes its metadata so. */
const isTrue = (text: string): boolean => parseBoolean(text) === true;

function texts(object: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}
