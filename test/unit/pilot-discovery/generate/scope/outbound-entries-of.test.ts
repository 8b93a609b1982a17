import { describe, expect, it } from 'vitest';
import {
  bindingsText,
  outboundRouteNames,
  scopeEntries,
} from '../../../../../src/pilot-discovery/generate/scope/outbound-entries-of.ts';
import { outboundScope } from '../../../../../src/pilot-discovery/generate/scope/outbound-scope.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const service = (name: string, ports: string, more = 'resolution: STATIC') =>
  resourceText('ServiceEntry', name, `{ hosts: [${name}.mesh], ports: [${ports}], ${more} }`);
const environment = environmentOf(
  [
    service(
      'a',
      '{ number: 80, name: http, protocol: HTTP }, { number: 90, name: tcp, protocol: TCP }',
    ),
    service(
      'b',
      '{ number: 80, name: http, protocol: HTTP }, { number: 8080, name: p }',
      'resolution: STATIC, addresses: [240.0.0.1]',
    ),
  ].join('---\n'),
);

function entriesFor(metadata: string) {
  const node = proxyIn(metadata);
  const scope = outboundScope(environment, node);
  return {
    entries: scopeEntries(environment, node, scope),
    names: outboundRouteNames(environment, node, scope),
    text: bindingsText(environment, node, scope.services),
  };
}

describe('the listeners of a proxy and the routes that they ask for', () => {
  it.each<[metadata: string, addresses: readonly string[], names: readonly string[]]>([
    ['', ['0.0.0.0:80', '0.0.0.0:90', '240.0.0.1:8080'], ['80', 'b.mesh:8080']],
    [
      'INTERCEPTION_MODE: NONE',
      ['127.0.0.1:80', '127.0.0.1:90', '127.0.0.1:8080'],
      ['80', 'b.mesh:8080'],
    ],
    ['{ INTERCEPTION_MODE: NONE, UNPRIVILEGED_POD: "true" }', ['127.0.0.1:8080'], ['b.mesh:8080']],
  ])('with %s', (metadata, addresses, names) => {
    const outbound = entriesFor(metadata);
    expect(outbound.entries.map(({ address, port }) => `${address}:${port}`)).toEqual(addresses);
    expect(outbound.names).toEqual(names);
  });

  it('are made once for proxies of one interception and one family of addresses', () => {
    const outbound = entriesFor('INSTANCE_IPS: 10.0.0.1');
    expect(entriesFor('INSTANCE_IPS: 10.0.0.2').entries).toBe(outbound.entries);
    expect(entriesFor('INSTANCE_IPS: fd00::1').entries).not.toBe(outbound.entries);
    expect(entriesFor('INSTANCE_IPS: fd00::1').text).not.toBe(outbound.text);
  });
});
