import { headerName } from '../fields/read-header-name.ts';
import { matchLabels } from '../fields/match-labels.ts';
import {
  below,
  count,
  list,
  members,
  needed,
  oneOf,
  type Place,
  port,
  type ReadMember,
  text,
  texts,
  warn,
  wrong,
} from '../fields/members.ts';
import { readWorkloadTemplate } from '../hosts/read-service-entry.ts';
import type { ProbeMethod, WorkloadGroup, WorkloadProbe } from './workload-group.ts';

const probePort: ReadMember<number | undefined> = (value, place) => {
  if (value === undefined) wrong(place, 'it is missing: a port from 1 to 65535');
  return port(value, place);
};

const scheme: ReadMember<string> = (value, place) =>
  oneOf({ HTTP: 'HTTP', HTTPS: 'HTTPS' }, 'HTTP')(value === '' ? undefined : value, place);

const probeHeader: ReadMember<string> = (value, place) =>
  members(value, place, [], (get) => {
    get('value', text);
    return get('name', headerName);
  });

const command: ReadMember<readonly string[]> = (value, place) => {
  const read = list(needed)(value, place);
  if (value === undefined || (Array.isArray(value) && value.length === 0))
    wrong(place, 'it is missing: a program and its arguments');
  return read;
};

/** Checks the members of each method of a probe. */
const methods: Readonly<Record<ProbeMethod, ReadMember<unknown>>> = {
  httpGet: (value, place) =>
    members(value, place, [], (get) => {
      get('path', text);
      get('host', text);
      get('scheme', scheme);
      get('httpHeaders', list(probeHeader));
      return get('port', probePort);
    }),
  tcpSocket: (value, place) =>
    members(value, place, [], (get) => {
      get('host', text);
      return get('port', probePort);
    }),
  exec: (value, place) => members(value, place, [], (get) => get('command', command)),
  grpc: (value, place) =>
    members(value, place, [], (get) => {
      get('service', text);
      return get('port', probePort);
    }),
};

const methodNames = Object.keys(methods) as readonly ProbeMethod[];

const probe: ReadMember<WorkloadProbe | undefined> = (value, place) => {
  if (value === undefined) return undefined;
  return members(value, place, [], (get, has) => {
    const given = methodNames.filter(has);
    for (const name of given) get(name, methods[name]);
    checkMethods(given, place);
    const number = (name: string) => get(name, count) ?? 0;
    return {
      method: given[0],
      initialDelay: number('initialDelaySeconds'),
      timeout: number('timeoutSeconds'),
      period: number('periodSeconds'),
      successes: number('successThreshold'),
      failures: number('failureThreshold'),
    };
  });
};

function checkMethods(given: readonly ProbeMethod[], place: Place): void {
  const all = methodNames.join(', ');
  if (given.length === 0) wrong(place, `it checks nothing: give one of ${all}`);
  if (given.length > 1)
    wrong(place, `${given.join(' and ')} exclude each other: give one of ${all}`);
}

const metadataLabels: ReadMember<WorkloadGroup['labels']> = (value, place) =>
  members(value, place, [], (get) => {
    get('annotations', texts);
    return get('labels', matchLabels);
  });

/** Reads a WorkloadGroup, and warns that it has no effect here. */
export const readWorkloadGroup: ReadMember<WorkloadGroup> = (value, place) =>
  members(value, place, [], (get, has) => {
    if (!has('template'))
      wrong(below(place, 'template'), 'it is missing: {} if all fields have their defaults');
    warn(
      place,
      'it has no effect: no machine is registered here. Write a WorkloadEntry for each machine',
    );
    return {
      labels: get('metadata', metadataLabels),
      template: get('template', readWorkloadTemplate),
      probe: get('probe', probe),
    };
  });
