import { isIP } from 'node:net';
import { isMap } from '../../../shared/text/split-content.ts';
import { canonicalAddress } from '../../istio/fields/canonical.ts';
import { portProtocol } from '../../istio/fields/port-protocol.ts';
import type { ServicePort, Workload } from '../../istio/hosts/service-entry.ts';
import type { Labels } from '../../istio/fields/values.ts';

/** The instances of a service, as Consul lists them with their checks. */
export interface ReadInstances {
  /** The ports of all instances, also of those with a critical check; sorted by number. */
  readonly ports: readonly ServicePort[];
  /** The instances without a critical check. */
  readonly instances: readonly ReadInstance[];
  /** Why instances or settings are not used; a sentence each. */
  readonly problems: readonly string[];
}

export interface ReadInstance {
  /** `NODE/ID`. It is unique in a datacenter. */
  readonly name: string;
  readonly port: number;
  readonly workload: Workload;
}

type Row = Readonly<Record<string, unknown>>;

/** The largest number of ports of a service, and of characters in a name. */
const most = { ports: 256, characters: 256, weight: 65_535 };

/**
 * Reads an answer to `health/service/NAME`. Throws if it is not a list of instances. An instance
 * that cannot be served is left out, and a problem has the reason. Pure.
 */
export function readInstances(body: unknown): ReadInstances {
  if (body === undefined) return { ports: [], instances: [], problems: [] };
  if (!Array.isArray(body)) throw new Error('its answer is not a list of instances');
  const problems: string[] = [];
  const ports = new Map<number, ServicePort>();
  const instances = new Map<string, ReadInstance>();
  for (const row of body.map(rowOf)) {
    const { name, address, port, protocol, status } = row;
    if (!isName(name))
      problems.push(
        `an instance is not used: its NODE/ID lacks a part, has control characters, or is longer than ${most.characters} characters`,
      );
    else if (port === 0) problems.push(`${name} is not used: it has no port`);
    else if (isIP(address) === 0)
      problems.push(`${name} is not used: its address '${address}' is not an IP address`);
    else if (ports.size === most.ports && !ports.has(port))
      problems.push(`${name} is not used: the service has more than ${most.ports} ports`);
    else {
      const declared = ports.get(port);
      const read = { number: port, name: protocol, targetPort: undefined };
      const servicePort = { ...read, protocol: portProtocol(port, protocol, '') };
      if (declared === undefined) ports.set(port, servicePort);
      else if (declared.protocol !== servicePort.protocol)
        problems.push(
          `the protocol of ${name} is not used: port ${port} is ${declared.protocol} at another instance and ${servicePort.protocol} at this one`,
        );
      if (status !== 'critical') instances.set(name, { name, port, workload: workloadOf(row) });
    }
  }
  return {
    ports: [...ports.values()].sort((a, b) => a.number - b.number),
    instances: [...instances.values()],
    problems,
  };
}

type Status = 'passing' | 'warning' | 'critical';

interface InstanceRow {
  readonly name: string;
  readonly address: string;
  /** 0 if it has none. */
  readonly port: number;
  /** The label `protocol`; '' if there is none. */
  readonly protocol: string;
  readonly status: Status;
  readonly labels: Labels;
  readonly datacenter: string;
  readonly weights: Readonly<Record<'passing' | 'warning', number>>;
}

function rowOf(entry: unknown): InstanceRow {
  const { Node: node, Service: service, Checks: checks } = mapOf(entry);
  if (!isMap(node) || !isMap(service)) throw new Error('its answer is not a list of instances');
  const { Address: address, Port: port, Tags: tags, Meta: meta, Weights: weights } = service;
  const labels = new Map([...fromTags(tags), ...fromMeta(meta)]);
  const { Passing: passing, Warning: warning } = mapOf(weights);
  return {
    name: `${textOf(node['Node'])}/${textOf(service['ID'])}`,
    address: textOf(address) === '' ? textOf(node['Address']) : textOf(address),
    port: isWithin(port, 1, 65_535) ? port : 0,
    protocol: labels.get('protocol') ?? '',
    status: statusOf(checks),
    labels: Object.fromEntries(labels),
    datacenter: textOf(node['Datacenter']),
    weights: { passing: weightOf(passing), warning: weightOf(warning) },
  };
}

const mapOf = (value: unknown): Row => (isMap(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const isWithin = (value: unknown, least: number, largest: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= least && value <= largest;

const isName = (name: string): boolean =>
  !name.startsWith('/') &&
  !name.endsWith('/') &&
  name.length <= most.characters &&
  !/\p{Cc}/u.test(name);

/**
 * Returns a weight; 0 if there is no valid one, or if it is 1, which Consul also sets for an
 * instance without one.
 */
const weightOf = (value: unknown): number =>
  isWithin(value, 0, most.weight) && value !== 1 ? value : 0;

/** Returns the worst state among checks. */
function statusOf(checks: unknown): Status {
  const states = Array.isArray(checks) ? checks.map((check) => mapOf(check)['Status']) : [];
  if (states.some((state) => state !== 'passing' && state !== 'warning')) return 'critical';
  return states.includes('warning') ? 'warning' : 'passing';
}

/** A name of a label, as Kubernetes has it too. */
const label = /^[A-Za-z0-9][\w./-]{0,315}$/;

/** Returns the labels in tags of the form `key|value`. All other tags mean nothing here. */
function fromTags(tags: unknown): readonly (readonly [string, string])[] {
  if (!Array.isArray(tags)) return [];
  return tags.flatMap((tag) => {
    const [key = '', value] = textOf(tag).split('|');
    return value !== undefined && label.test(key) ? [[key, value] as const] : [];
  });
}

function fromMeta(meta: unknown): readonly (readonly [string, string])[] {
  return Object.entries(mapOf(meta)).flatMap(([key, value]) =>
    typeof value === 'string' && label.test(key) ? [[key, value] as const] : [],
  );
}

function workloadOf({ address, labels, datacenter, status, weights }: InstanceRow): Workload {
  return {
    address: canonicalAddress(address),
    ports: {},
    labels,
    network: '',
    locality: datacenter.includes('/') ? '' : datacenter,
    weight: status === 'warning' ? weights.warning : weights.passing,
    serviceAccount: '',
  };
}
