import { describe, expect, it } from 'vitest';
import { readResources } from '../../../../../src/pilot-discovery/istio/documents/read-resources.ts';

const place = { source: 'files', path: 'a.yaml', defaultNamespace: 'default' };

/** Returns the severity, the line, the field and the sentence of each flaw. */
const flawsOf = (spec: string, annotations = '{}') =>
  readResources(
    `apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: { name: a, annotations: ${annotations} }\nspec:\n${spec.replace(/^/gm, '  ')}\n`,
    place,
  )
    .flaws.filter(({ field }) => field !== '')
    .map(({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`);

describe('a mistake in an AuthorizationPolicy', () => {
  it.each([
    ['action: DENI', "5 spec.action: 'DENI' is not one of ALLOW, DENY, AUDIT, CUSTOM"],
    ['action: DENY', '4 spec.rules: without rules it matches nothing: [{}] is for each request'],
    ['rules: [{}]\nprovider: { name: p }', '6 spec.provider: it is for the action CUSTOM alone'],
    ['action: CUSTOM\nrules: [{}]', '4 spec.provider: CUSTOM needs the name of one'],
    [
      'action: CUSTOM\nprovider: { name: p }\nrules: [{ from: [{ source: { requestPrincipals: [a] } }] }]',
      '7 spec.rules: CUSTOM cannot look at request.auth.principal: no token is known yet',
    ],
    [
      'action: CUSTOM\nprovider: { name: p }\nrules: [{ from: [{ source: { notPrincipals: [a] } }] }]',
      '7 spec.rules: CUSTOM cannot look at source.principal: Istio leaves that to the provider',
    ],
    [
      'action: CUSTOM\nprovider: { name: p }\nrules: [{ when: [{ key: source.namespace, values: [a] }] }]',
      '7 spec.rules: CUSTOM cannot look at source.namespace: Istio leaves that to the provider',
    ],
    ['rules:\n  - ', '6 spec.rules[0]: it is empty: {} is for each request'],
    ['rules:\n  - form: []', '6 spec.rules[0].form: there is no such field: did you mean from?'],
    ['rules:\n  - from:\n      - {}', '7 spec.rules[0].from[0].source: it is missing'],
    [
      'rules:\n  - to:\n      - operation: {}',
      '7 spec.rules[0].to[0].operation: it says nothing: give one of hosts, methods, paths, ports',
    ],
    [
      "rules:\n  - to:\n      - operation: { methods: [''] }",
      '7 spec.rules[0].to[0].operation.methods[0]: no request matches an empty text',
    ],
    [
      'rules:\n  - to:\n      - operation: { method: [GET] }',
      '7 spec.rules[0].to[0].operation.method: there is no such field: did you mean methods?',
    ],
    [
      'rules:\n  - to:\n      - operation: { ports: [http] }',
      "7 spec.rules[0].to[0].operation.ports[0]: 'http' is not a port (1 to 65535)",
    ],
    [
      'rules:\n  - to:\n      - operation: { ports: [80] }',
      '7 spec.rules[0].to[0].operation.ports[0]: 80 is not a text',
    ],
    [
      "rules:\n  - to:\n      - operation: { paths: ['/a/b{*}'] }",
      "7 spec.rules[0].to[0].operation.paths[0]: '/a/b{*}' has braces or a * in a part that is not {*} or {**}",
    ],
    [
      "rules:\n  - to:\n      - operation: { paths: ['/{**}/a/{*}'] }",
      "7 spec.rules[0].to[0].operation.paths[0]: '/{**}/a/{*}' has a {*} or {**} after its {**}",
    ],
    [
      'rules:\n  - from:\n      - source: { ipBlocks: [10.0.0.0/33] }',
      "7 spec.rules[0].from[0].source.ipBlocks[0]: '10.0.0.0/33' is not an IP address or a range (such as 10.0.0.0/8)",
    ],
    [
      "rules:\n  - from:\n      - source: { serviceAccounts: ['a*'] }",
      "7 spec.rules[0].from[0].source.serviceAccounts[0]: 'a*' has a *, which is not served for service accounts",
    ],
    [
      "rules:\n  - to:\n      - operation: { paths: ['a/{*}'] }",
      "7 spec.rules[0].to[0].operation.paths[0]: 'a/{*}' is a template that does not begin with /",
    ],
    [
      "rules:\n  - to:\n      - operation: { paths: ['/a?b/{*}'] }",
      "7 spec.rules[0].to[0].operation.paths[0]: '/a?b/{*}' is a template with the part 'a?b', which Envoy does not accept",
    ],
    [
      "rules:\n  - to:\n      - operation: { paths: ['/a//{*}'] }",
      "7 spec.rules[0].to[0].operation.paths[0]: '/a//{*}' is a template with the part '', which Envoy does not accept",
    ],
    [
      `rules:\n  - to:\n      - operation: { paths: ['/${'a'.repeat(254)}/{*}'] }`,
      `7 spec.rules[0].to[0].operation.paths[0]: '/${'a'.repeat(254)}/{*}' is a template of more than 256 characters`,
    ],
    [
      "rules:\n  - from:\n      - source: { namespaces: ['a|b'] }",
      "7 spec.rules[0].from[0].source.namespaces[0]: 'a|b' is not a valid name of a namespace",
    ],
    [
      "rules:\n  - from:\n      - source: { serviceAccounts: ['a('] }",
      "7 spec.rules[0].from[0].source.serviceAccounts[0]: 'a(' is not an account, or NAMESPACE/ACCOUNT",
    ],
    [
      'rules:\n  - when:\n      - { key: "request.headers[a\\nb]", values: [a] }',
      "7 spec.rules[0].when[0].key: 'request.headers[a\\nb]' has no name of a header in brackets: request.headers[name]",
    ],
    [
      'rules:\n  - from:\n      - source: { serviceAccounts: [a/b/c] }',
      "7 spec.rules[0].from[0].source.serviceAccounts[0]: 'a/b/c' is not an account, or NAMESPACE/ACCOUNT",
    ],
    [
      'rules:\n  - from:\n      - source: { serviceAccounts: [a], namespaces: [b] }',
      '7 spec.rules[0].from[0].source: serviceAccounts cannot be with principals or namespaces: they have a namespace',
    ],
    ['rules:\n  - when:\n      - values: [a]', '7 spec.rules[0].when[0].key: it is missing'],
    [
      'rules:\n  - when:\n      - { key: source.ip }',
      '7 spec.rules[0].when[0]: it needs values or notValues',
    ],
    [
      'rules:\n  - when:\n      - { key: source.ipp, values: [1.2.3.4] }',
      "7 spec.rules[0].when[0].key: 'source.ipp' is not an attribute that is served: did you mean source.ip?",
    ],
    [
      'rules:\n  - when:\n      - { key: request.headers, values: [a] }',
      "7 spec.rules[0].when[0].key: 'request.headers' has no name of a header in brackets: request.headers[name]",
    ],
    [
      "rules:\n  - when:\n      - { key: 'request.auth.claims[]', values: [a] }",
      "7 spec.rules[0].when[0].key: 'request.auth.claims[]' has no name of a claim in brackets: request.auth.claims[name]",
    ],
    [
      'selector: { matchLabels: { a: b } }\ntargetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: g }]',
      '4 spec: it cannot have both a selector and targetRefs',
    ],
  ])('%j is named', (spec, flaw) => {
    expect(flawsOf(spec)).toContain(`error ${flaw}`);
  });

  it.each([
    [
      'rules: [{ from: [] }]',
      'spec.rules[0].from: it is empty, and does not restrict the rule: give one source, or leave it out',
    ],
    ['action: AUDIT', 'spec.rules: without rules it matches nothing: [{}] is for each request'],
    [
      'targetRefs: [{ group: gateway.networking.k8s.io, kind: Gateway, name: g }]',
      'spec: it is for gateways or services (targetRefs), and has no effect',
    ],
  ])('%j is taken, with a warning', (spec, flaw) => {
    expect(flawsOf(spec)).toEqual([expect.stringMatching(/^warning \d+ /) as string]);
    expect(flawsOf(spec)[0]).toContain(flaw);
  });
});
