import { describe, expect, it } from 'vitest';
import { ownPorts } from '../../../../../src/pilot-discovery/generate/scope/own-ports.ts';
import { resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

/** Returns a service `NAME [SECOND]` with these ports, created in this second. */
function service(text: string, ports: string, address = '10.0.0.1', namespace = 'default') {
  const [name = '', second = '0'] = text.split(' ');
  return resourceText(
    'ServiceEntry',
    name,
    `{ hosts: [${name}.mesh], resolution: STATIC, ports: [${ports}], endpoints: [{ address: ${address} }] }`,
    { namespace, creationTimestamp: `2020-01-01T00:00:0${second}Z` },
  );
}

/**
 * Returns the ports of a workload at 10.0.0.1 and 10.0.0.2: `PORT: SERVICE:ITS PORT, ALL SERVICES`.
 */
const portsOf = (...services: readonly string[]): readonly string[] =>
  ownPorts(environmentOf(services.join('---\n')), {
    addresses: ['10.0.0.1', '10.0.0.2'],
    namespace: 'default',
  }).map(
    ({ endpoint, service: { host }, port, services: all }) =>
      `${endpoint.port}: ${host}:${port.number}, ${all.map((portService) => portService.host).join(' ')}`,
  );

describe('the ports that a workload serves', () => {
  const http = '{ number: 80, name: http, targetPort: 8080 }';
  it.each<[what: string, services: readonly string[], ports: readonly string[]]>([
    [
      'those of its services, by number',
      [service('a', `${http}, { number: 90, name: tcp, targetPort: 70 }`)],
      ['70: a.mesh:90, a.mesh', '8080: a.mesh:80, a.mesh'],
    ],
    [
      'that of the older service at a port that two have; both are told if they call it alike',
      [service('a 2', http), service('b 1', http)],
      ['8080: b.mesh:80, b.mesh a.mesh'],
    ],
    [
      'that of the older service alone, if the other calls it otherwise',
      [service('a 2', '{ number: 81, name: http, targetPort: 8080 }'), service('b 1', http)],
      ['8080: b.mesh:80, b.mesh'],
    ],
    ['those at its second address', [service('a', http, '10.0.0.2')], ['8080: a.mesh:80, a.mesh']],
    ['none at another address', [service('a', http, '10.0.0.3')], []],
    ['none of another namespace', [service('a', http, '10.0.0.1', 'other')], []],
  ])('%s', (_, services, ports) => {
    expect(portsOf(...services)).toEqual(ports);
  });
});
