import { describe, expect, it } from 'vitest';
import { readMeshConfig } from '../../../../../src/pilot-discovery/istio/mesh/read-mesh-config.ts';

const flawsOf = (provider: string) => {
  const { mesh, flaws } = readMeshConfig(
    `trustDomain: td\nextensionProviders:\n  - ${provider}\n`,
    'mesh.yaml',
  );
  return {
    authorizers: mesh.authorizers,
    flaws: flaws.map(
      ({ origin, field, reason, severity }) => `${severity} ${origin.line} ${field}: ${reason}`,
    ),
  };
};

const refused = '; requests that a policy sends to this provider are refused';
const http = (fields: string) => `{ name: p, envoyExtAuthzHttp: { ${fields} } }`;
const grpc = (fields: string) => `{ name: p, envoyExtAuthzGrpc: { ${fields} } }`;
const serviceAndPort = 'service: a.mesh, port: 80';
const [ofHttp, ofGrpc] = ['envoyExtAuthzHttp', 'envoyExtAuthzGrpc'];

describe('a mistake in an authorizer of the MeshConfig', () => {
  it.each([
    [http('port: 80'), ofHttp, 'service: it is missing'],
    [http('service: 1, port: 80'), ofHttp, 'service: 1 is not a text'],
    [
      http('service: a/b/c, port: 80'),
      ofHttp,
      "service: 'a/b/c' is not a service: give HOST, or NAMESPACE/HOST",
    ],
    [
      http('service: /a.mesh, port: 80'),
      ofHttp,
      "service: '/a.mesh' is not a service: give HOST, or NAMESPACE/HOST",
    ],
    [
      http("service: '*.mesh', port: 80"),
      ofHttp,
      "service: '*.mesh' is not one service: name its host",
    ],
    [
      http("service: 'a b', port: 80"),
      ofHttp,
      "service: 'a b' is not a host: give a DNS name, which may begin with '*'",
    ],
    [http('service: a.mesh'), ofHttp, 'port: it is missing'],
    [http('service: a.mesh, port: 0'), ofHttp, 'port: 0 is not a whole number from 1 to 65535'],
    [
      http(`${serviceAndPort}, timeout: 0s`),
      ofHttp,
      "timeout: '0s' is not a duration of 1ms or more (such as '500ms' or '1.5s')",
    ],
    [
      http(`${serviceAndPort}, failOpen: yes please`),
      ofHttp,
      "failOpen: 'yes please' is not true or false",
    ],
    [
      http(`${serviceAndPort}, statusOnError: Forbidden`),
      ofHttp,
      "statusOnError: 'Forbidden' is not a whole number from 100 to 599",
    ],
    [
      http(`${serviceAndPort}, statusOnError: '499'`),
      ofHttp,
      'statusOnError: 499 is not a status that Envoy answers with',
    ],
    [
      http(`${serviceAndPort}, pathPrefix: check`),
      ofHttp,
      "pathPrefix: 'check' is not the beginning of a path: it starts with / and has no spaces",
    ],
    [
      http(`${serviceAndPort}, pathPrefix: '/a b'`),
      ofHttp,
      "pathPrefix: '/a b' is not the beginning of a path: it starts with / and has no spaces",
    ],
    [
      http(`${serviceAndPort}, includeRequestHeadersInCheck: ['*']`),
      ofHttp,
      "includeRequestHeadersInCheck[0]: '*' stands for each header: name some, such as x-*",
    ],
    [
      http(`${serviceAndPort}, includeHeadersInCheck: ['a b']`),
      ofHttp,
      "includeHeadersInCheck[0]: 'a b' is not a valid name of a header",
    ],
    [
      http(`${serviceAndPort}, headersToUpstreamOnAllow: ['']`),
      ofHttp,
      'headersToUpstreamOnAllow[0]: it is missing',
    ],
    [
      http(`${serviceAndPort}, headersToDownstreamOnDeny: x-a`),
      ofHttp,
      "headersToDownstreamOnDeny: 'x-a' is not a list",
    ],
    [
      http(`${serviceAndPort}, headersToDownstreamOnAllow: ['*']`),
      ofHttp,
      "headersToDownstreamOnAllow[0]: '*' stands for each header: name some, such as x-*",
    ],
    [
      http(`${serviceAndPort}, includeAdditionalHeadersInCheck: { host: a }`),
      ofHttp,
      "includeAdditionalHeadersInCheck.host: 'host' is not a valid name of a header that can be added",
    ],
    [
      http(`${serviceAndPort}, includeAdditionalHeadersInCheck: { x-a: '%BAD%' }`),
      ofHttp,
      'includeAdditionalHeadersInCheck.x-a: Envoy has no %BAD%: write %% for a percent sign',
    ],
    [
      http(`${serviceAndPort}, includeRequestBodyInCheck: { allowPartialMessage: true }`),
      ofHttp,
      'includeRequestBodyInCheck.maxRequestBytes: it is missing',
    ],
    [
      http(`${serviceAndPort}, includeRequestBodyInCheck: { maxRequestBytes: 0 }`),
      ofHttp,
      'includeRequestBodyInCheck.maxRequestBytes: 0 is not a whole number from 1 to 4294967295',
    ],
    [grpc('port: 80'), ofGrpc, 'service: it is missing'],
    [
      grpc('service: a.mesh, port: http'),
      ofGrpc,
      "port: 'http' is not a whole number from 1 to 65535",
    ],
    [
      grpc(`${serviceAndPort}, statusOnError: '99'`),
      ofGrpc,
      "statusOnError: '99' is not a whole number from 100 to 599",
    ],
  ])('%s is named, and closes it', (provider, kind, flaw) => {
    const outcome = flawsOf(provider);
    expect(outcome.flaws).toEqual([`warning 3 extensionProviders[0].${kind}.${flaw}${refused}`]);
    expect(outcome.authorizers).toEqual([{ name: 'p', authorizer: 'closed' }]);
  });

  it.each([
    [
      `{ name: p, envoyExtAuthzHttp: { ${serviceAndPort} }, envoyExtAuthzGrpc: { ${serviceAndPort} } }`,
      `extensionProviders[0]: it has envoyExtAuthzHttp and envoyExtAuthzGrpc: give one${refused}`,
      [{ name: 'p', authorizer: 'closed' }],
    ],
    [
      `{ envoyExtAuthzGrpc: { ${serviceAndPort} } }`,
      'extensionProviders[0].name: it is missing, so no policy can name it',
      [],
    ],
    [
      `${grpc(serviceAndPort)}\n  - ${grpc(serviceAndPort)}`,
      `extensionProviders[1]: the name p is there twice${refused}`,
      [{ name: 'p', authorizer: 'closed' }],
    ],
  ])('%s is named', (providers, flaw, authorizers) => {
    const outcome = flawsOf(providers);
    expect(outcome.flaws).toEqual([expect.stringMatching(/^warning [34] /) as string]);
    expect(outcome.flaws[0]).toContain(flaw);
    expect(outcome.authorizers).toEqual(authorizers);
  });

  it('is not a field that is newer than this version, of which a line tells', () => {
    const { authorizers, flaws } = flawsOf(grpc(`${serviceAndPort}, newer: 1`));
    expect(flaws).toEqual([
      'warning 3 extensionProviders[0].envoyExtAuthzGrpc.newer: it has no effect here',
    ]);
    expect(authorizers[0]?.authorizer).toMatchObject({ host: 'a.mesh', port: 80 });
  });

  it('is not a provider of something else', () => {
    expect(flawsOf('{ name: l, zipkin: { service: z.mesh, port: 9411 } }').authorizers).toEqual([]);
  });

  it('is not there with what Istio documents', () => {
    const { authorizers, flaws } = flawsOf(
      http(
        "service: foo/A.Mesh, port: '8000', includeHeadersInCheck: [x-old], statusOnError: '503'",
      ),
    );
    expect(flaws).toEqual([]);
    expect(authorizers[0]?.authorizer).toEqual({
      protocol: {
        type: 'http',
        pathPrefix: '',
        shownHeaders: ['x-old'],
        addedHeaders: [],
        toUpstream: [],
        toDownstreamIfDenied: [],
        toDownstreamIfAllowed: [],
      },
      namespace: 'foo',
      host: 'a.mesh',
      port: 8000,
      timeoutMs: 600_000,
      withoutAnswer: 'refused',
      statusWithoutAnswer: 503,
      body: undefined,
      routes: 'kept',
    });
  });
});
