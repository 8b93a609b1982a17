import { describe, expect, it } from 'vitest';
import {
  meshRules,
  rulesForHosts,
} from '../../../../../src/pilot-discovery/generate/scope/rules-for-hosts.ts';
import { visibleServices } from '../../../../../src/pilot-discovery/generate/scope/visible-services.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';
import { environmentOf } from '../../../../support/generated.ts';

const http = 'http: [{ directResponse: { status: 200 } }]';
/** Returns a VirtualService `NAME HOST…`, created in this second. */
const rule = (text: string, second: number, more = http) => {
  const [name = '', ...hosts] = text.split(' ');
  return resourceText('VirtualService', name, `{ hosts: ${JSON.stringify(hosts)}, ${more} }`, {
    creationTimestamp: `2020-01-01T00:00:0${second}Z`,
  });
};
const service = (host: string) =>
  resourceText(
    'ServiceEntry',
    host.replaceAll('.', '-'),
    `{ hosts: [${host}], resolution: STATIC, ports: [{ number: 80, name: http }] }`,
  );

/**
 * Returns the services of each rule, `NAME: SERVICES`, and its hosts without a service in brackets.
 */
function spokenFor(rules: readonly string[], hosts: readonly string[], alone = true) {
  const texts = [...rules.map((text, index) => rule(text, index)), ...hosts.map(service)];
  const environment = environmentOf(texts.join('---\n'));
  const services = new Map(
    [...visibleServices(environment, proxyIn(''))].map(([host, visibleService]) => [
      host,
      { service: visibleService },
    ]),
  );
  return rulesForHosts(meshRules(environment, proxyIn('')), services, alone).map((governed) =>
    [
      `${governed.rule.name}:`,
      ...governed.services.map((governedService) => governedService.service.host),
      ...governed.hosts.map((host) => `[${host}]`),
    ].join(' '),
  );
}

describe('the services that a VirtualService speaks for', () => {
  const two = ['a.x.mesh', 'b.x.mesh'];
  it.each<[what: string, rules: readonly string[], spoken: readonly string[]]>([
    ['one by its name', ['r a.x.mesh'], ['r: a.x.mesh']],
    ['all of a wildcard', ['r *.mesh'], ['r: a.x.mesh b.x.mesh']],
    ['those of the longest wildcard', ['r *.mesh', 's *.x.mesh'], ['r:', 's: a.x.mesh b.x.mesh']],
    ['those that no rule names', ['r *.mesh', 's a.x.mesh'], ['r: b.x.mesh', 's: a.x.mesh']],
    ['the older of two with a wildcard', ['r *.mesh', 's *.mesh'], ['r: a.x.mesh b.x.mesh', 's:']],
    ['hosts without a service', ['r c.mesh *.y.mesh'], ['r: [c.mesh] [*.y.mesh]']],
  ])('%s', (_, rules, spoken) => {
    expect(spokenFor(rules, two)).toEqual(spoken);
  });

  it('are some, or the rule says nothing at a port where hosts alone do not count', () => {
    expect(spokenFor(['r c.mesh', 's a.x.mesh d.mesh'], two, false)).toEqual([
      's: a.x.mesh [d.mesh]',
    ]);
  });
});

it.each([
  ['for the mesh', http, true],
  ['for the mesh and a gateway', `gateways: [mesh, g], ${http}`, true],
  ['for a gateway', `gateways: [g], ${http}`, false],
  ['exported to all', `exportTo: ["*"], ${http}`, true],
  ['kept in its namespace, which is that of the proxy', `exportTo: ["."], ${http}`, true],
  ['exported to another namespace', `exportTo: [other], ${http}`, false],
])('a sidecar heeds a VirtualService %s', (_, more, heeded) => {
  const rules = meshRules(environmentOf(rule('r a.mesh', 0, more)), proxyIn(''));
  expect(rules.length > 0).toBe(heeded);
});

describe('the VirtualServices of a sidecar', () => {
  it('are those that are exported to it, the nearest first and then the oldest', () => {
    const exportedRule = (name: string, namespace: string, second: number, exportTo: string) =>
      rule(`${name} a.mesh`, second, `${http}${exportTo}`).replace(
        'namespace: default',
        `namespace: ${namespace}`,
      );
    const environment = environmentOf(
      [
        exportedRule('for-all', 'default', 1, ''),
        exportedRule('for-all-too', 'other', 2, ", exportTo: ['*']"),
        exportedRule('of-another', 'other', 3, ', exportTo: [default]'),
        exportedRule('own', 'default', 5, ', exportTo: [.]'),
        exportedRule('older-own', 'default', 4, ', exportTo: [., other]'),
        exportedRule('of-others', 'other', 0, ', exportTo: [.]'),
      ].join('---\n'),
    );
    expect(meshRules(environment, proxyIn('')).map(({ name }) => name)).toEqual([
      'older-own',
      'own',
      'of-another',
      'for-all',
      'for-all-too',
    ]);
  });
});
