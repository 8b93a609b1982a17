import { isMap } from '../../shared/text/split-content.ts';
import type { Around } from './around.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/** A port on which the agent or Envoy would listen. */
export interface Listening {
  /** An IP address; '' for all. */
  readonly host: string;
  readonly port: number;
  /** The purpose of the port, and the setting that changes it, for a person. */
  readonly purpose: string;
  readonly change: string;
}

/**
 * Returns all ports that the agent and Envoy would listen on, by the flags and by Envoy's
 * configuration. Pure.
 */
export function listening({ config, bootstrap = {} }: Around): readonly Listening[] {
  const { statusPort, stsPort, proxyAdminPort, prometheusPort, healthPort, customConfigFile } =
    config;
  const agent = [
    { host: '', port: statusPort, purpose: 'the status port', change: '--statusPort' },
    { host: '127.0.0.1', port: stsPort, purpose: 'the token server', change: '--stsPort' },
  ].filter(({ port }) => port !== 0);
  const generated = new Map([
    [proxyAdminPort, '--proxyAdminPort'],
    [prometheusPort, 'ENVOY_PROMETHEUS_PORT'],
    [healthPort, 'ENVOY_STATUS_PORT'],
  ]);
  const file = customConfigFile === '' ? 'the configuration' : customConfigFile;
  const envoy = [
    ...addressesOf(bootstrap['admin']).map((address) => ({
      ...address,
      purpose: "Envoy's admin endpoint",
      change: `admin.address in ${file}`,
    })),
    ...listOf(member(bootstrap['static_resources'], 'listeners')).flatMap((listener) => {
      const name = textOf(member(listener, 'name'));
      const purpose = `Envoy's listener${name === '' ? '' : ` ${name}`}`;
      return addressesOf(listener).map((address) => ({
        ...address,
        purpose,
        change: `the listener in ${file}`,
      }));
    }),
  ];
  if (customConfigFile !== '') return [...agent, ...envoy];
  return [
    ...agent,
    ...envoy.map((listener) => ({
      ...listener,
      change: generated.get(listener.port) ?? listener.change,
    })),
  ];
}

/** Returns the TCP addresses of an admin endpoint or a listener. */
function addressesOf(owner: unknown): readonly { readonly host: string; readonly port: number }[] {
  const additional = listOf(member(owner, 'additional_addresses')).map((entry) =>
    member(entry, 'address'),
  );
  return [member(owner, 'address'), ...additional].flatMap((address) => {
    const socket = member(address, 'socket_address');
    const port = Number(member(socket, 'port_value'));
    return port > 0 && member(socket, 'protocol') !== 'UDP'
      ? [{ host: textOf(member(socket, 'address')), port }]
      : [];
  });
}

function member(content: unknown, name: string): unknown {
  return isMap(content) ? ownMember(content, name) : undefined;
}

function listOf(content: unknown): readonly unknown[] {
  return Array.isArray(content) ? content : [];
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : '';
}
