import { describe, expect, it } from 'vitest';
import { listenerClashes } from '../../../../../src/pilot-discovery/generate/listeners/listener-clashes.ts';
import { outboundBindings } from '../../../../../src/pilot-discovery/generate/scope/outbound-bindings.ts';
import { plainChain } from '../../../../../src/pilot-discovery/generate/scope/mesh-connections.ts';
import { outboundEntries } from '../../../../../src/pilot-discovery/generate/scope/outbound-entries.ts';
import { visibleServices } from '../../../../../src/pilot-discovery/generate/scope/visible-services.ts';
import { environmentOf } from '../../../../support/generated.ts';
import { growthRatio } from '../../../../support/growth-ratio.ts';

/**
 * Returns an environment of services `NAME PROTOCOL [ADDRESS…]` on port 90, each older than the
 * next.
 */
function environment(...services: readonly string[]) {
  return environmentOf(
    services
      .map((service, index) => {
        const [name = '', protocol = '', ...addresses] = service.split(' ');
        return `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: ${name}${index}, creationTimestamp: "2020-01-01T00:00:0${index}Z" }
spec: { hosts: [${name}.mesh], addresses: ${JSON.stringify(addresses)}, ports: [{ number: 90, name: p, protocol: ${protocol} }], resolution: STATIC, endpoints: [{ address: 10.0.0.9 }] }
---`;
      })
      .join(''),
  );
}

function bindingsOf(...services: readonly string[]) {
  const builtEnvironment = environment(...services);
  const all = [...visibleServices(builtEnvironment, { namespace: 'default' }).values()];
  return outboundBindings(
    builtEnvironment,
    { addresses: ['10.0.0.1'], interception: 'redirect', ownPorts: [], bindable: 'any' },
    all,
    undefined,
  );
}

/** Returns for each listener its address, its chains, and the services that have none. */
function entries(...services: readonly string[]): readonly string[] {
  return outboundEntries(bindingsOf(...services), (binding) => [plainChain(binding)]).map(
    ({ address, chains, left }) => {
      const inside = chains.map(({ type, binding }) =>
        type === 'http'
          ? 'http'
          : [binding.service.host, binding.range, binding.serverName].join(' ').trim(),
      );
      return `${address}: ${inside.join(', ')}${left.map(({ service, range }) => `, not ${service.host} ${range}`.trimEnd()).join('')}`;
    },
  );
}

describe('services at one port', () => {
  it.each<[what: string, services: readonly string[], listeners: readonly string[]]>([
    ['MySQL before HTTP', ['a MYSQL', 'b HTTP'], ['0.0.0.0: a.mesh, not b.mesh']],
    ['HTTP before MySQL', ['a HTTP', 'b MYSQL'], ['0.0.0.0: http, not b.mesh']],
    ['MySQL before TLS', ['a MYSQL', 'b TLS'], ['0.0.0.0: a.mesh, not b.mesh']],
    ['MySQL before what is to be detected', ['a MYSQL', 'b '], ['0.0.0.0: a.mesh, not b.mesh']],
    ['Mongo before MySQL', ['a MONGO', 'b MYSQL'], ['0.0.0.0: a.mesh, not b.mesh']],
    [
      'MySQL and HTTP, each with an address',
      ['a MYSQL 240.0.0.1', 'b HTTP'],
      ['240.0.0.1: a.mesh', '0.0.0.0: http'],
    ],
    [
      'MySQL in two ranges',
      ['a MYSQL 240.0.0.0/16', 'b MYSQL 241.0.0.0/16'],
      ['0.0.0.0: a.mesh 240.0.0.0/16, b.mesh 241.0.0.0/16'],
    ],
    ['TCP beside HTTP', ['a TCP', 'b HTTP', 'c HTTP'], ['0.0.0.0: a.mesh, http']],
    ['HTTP before TCP', ['a HTTP', 'b TCP'], ['0.0.0.0: http, b.mesh']],
    ['two of TCP', ['a TCP', 'b TCP'], ['0.0.0.0: a.mesh, not b.mesh']],
    ['two of TLS', ['a TLS', 'b TLS'], ['0.0.0.0: a.mesh  a.mesh, b.mesh  b.mesh']],
    [
      'one range in two spellings',
      ['a TCP 240.1.2.3/16', 'b TCP 240.1.9.9/16'],
      ['0.0.0.0: a.mesh 240.1.0.0/16, not b.mesh 240.1.0.0/16'],
    ],
    [
      'one address in two spellings',
      ['a TCP 2001:DB8::1', 'b TCP 2001:db8:0::1'],
      ['2001:db8::1: a.mesh, not b.mesh'],
    ],
    [
      'an address, and a range of it alone',
      ['a TCP 240.0.0.1', 'b TCP 240.0.0.1/32'],
      ['240.0.0.1: a.mesh, not b.mesh'],
    ],
    [
      'two entries of a host',
      ['a TCP 240.0.0.1', 'a TCP 240.0.0.2'],
      ['240.0.0.1: a.mesh', '240.0.0.2: a.mesh'],
    ],
  ])('%s', (_, services, listeners) => {
    expect(entries(...services)).toEqual(listeners);
  });

  it.each(['TLS', 'TCP', 'MYSQL', ''])('of the protocol "%s" take a time for each', (protocol) => {
    const entriesOf = (count: number) => {
      const alike = bindingsOf(`a ${protocol}`);
      const bindings = Array.from({ length: count }, (_, index) =>
        alike.map((binding) => {
          const host = `s${index}.mesh`;
          const serverName = binding.serverName === '' ? '' : host;
          return { ...binding, serverName, service: { ...binding.service, host } };
        }),
      ).flat();
      return () => outboundEntries(bindings, (binding) => [plainChain(binding)]);
    };
    expect(growthRatio(entriesOf(200), entriesOf(1_600), 24)).toBeLessThan(24);
  });

  it('that have no listener are named, with who has it', () => {
    const [clash, ...rest] = listenerClashes(
      environment('a TCP 240.1.2.3/16', 'b TCP 240.1.9.9/16', 'c TCP 240.2.0.0/16', 'd HTTP'),
    );
    expect(rest).toEqual([]);
    expect(clash).toEqual({
      key: 'ServiceEntry/default/b1',
      reason:
        'port 90 of b.mesh gets no listener at 240.1.0.0/16: the older a.mesh (ServiceEntry/default/a0, tcp) already has this port there: give b.mesh an address of its own, or another port',
    });
  });

  it.each<[what: string, services: readonly string[], reason: string]>([
    [
      'has no address',
      ['a TCP', 'b TCP'],
      'port 90 of b.mesh gets no listener at 0.0.0.0: b.mesh has no address of its own, and the older a.mesh (ServiceEntry/default/a0, tcp) already has this port there: give b.mesh an address of its own, or another port',
    ],
    [
      'is for HTTP, which ignores its address',
      ['a MYSQL', 'b HTTP 240.0.0.1'],
      'port 90 of b.mesh gets no listener at 0.0.0.0: the older a.mesh (ServiceEntry/default/a0, mysql) already has this port there: give b.mesh another port',
    ],
    [
      'has the range of the second service',
      ['a TCP 240.1.0.0/16', 'b TCP 240.2.0.0/16', 'c TCP 240.2.0.0/16'],
      'port 90 of c.mesh gets no listener at 240.2.0.0/16: the older b.mesh (ServiceEntry/default/b1, tcp) already has this port there: give c.mesh an address of its own, or another port',
    ],
  ])('the reason names the older service if the port %s', (_, services, reason) => {
    expect(listenerClashes(environment(...services)).map((clash) => clash.reason)).toEqual([
      reason,
    ]);
  });
});
