import { describe, expect, it } from 'vitest';
import {
  httpInspector,
  inspectors,
  originalDestination,
  originalSource,
  tlsInspector,
} from '../../../../../src/pilot-discovery/generate/listeners/listener-filters.ts';
import { ListenerSchema } from '../../../../../src/shared/proto/envoy/config/listener/v3/listener_pb.ts';
import { canonical, messageYaml, shortFilters } from '../../../../support/golden.ts';

it('the filters of listeners have the settings of Istio', () => {
  const listenerFilters = [originalDestination, originalSource, tlsInspector, httpInspector];
  const type = 'type.googleapis.com/envoy.extensions.filters.listener';
  expect(messageYaml(ListenerSchema, { listenerFilters })).toBe(
    canonical(`
listener_filters:
  - { name: envoy.filters.listener.original_dst, typed_config: { "@type": ${type}.original_dst.v3.OriginalDst } }
  - { name: envoy.filters.listener.original_src, typed_config: { "@type": ${type}.original_src.v3.OriginalSrc, mark: 1337 } }
  - { name: envoy.filters.listener.tls_inspector, typed_config: { "@type": ${type}.tls_inspector.v3.TlsInspector, initial_read_buffer_size: 512 } }
  - { name: envoy.filters.listener.http_inspector, typed_config: { "@type": ${type}.http_inspector.v3.HttpInspector } }`),
  );
});

type Chains = Parameters<typeof inspectors>[0];
const tls = { transportProtocol: 'tls' };
const http = { applicationProtocols: ['http/1.1', 'h2c'] };
/** Returns a chain for a port, or for all others (0). */
const chain = (port: number, match: object = {}) => ({
  filterChainMatch: { ...(port > 0 && { destinationPort: port }), ...match },
});

describe('what inspects connections', () => {
  const port = (number: number) =>
    `{ destination_port_range: { start: ${number}, end: ${number + 1} } }`;
  it.each<[what: string, chains: Chains, filters: string]>([
    ['nothing, if no chain needs it', [chain(80)], '[]'],
    [
      'TLS of one port alone',
      [chain(80, tls), chain(81)],
      `[{ tls_inspector: { but_for: { not_match: ${port(80)} } } }]`,
    ],
    [
      'TLS of two ports alone',
      [chain(80, tls), chain(81, tls), chain(82)],
      `[{ tls_inspector: { but_for: { not_match: { or_match: { rules: [${port(80)}, ${port(81)}] } } } } }]`,
    ],
    [
      'TLS of all but the ports that need none',
      [chain(0, tls), chain(81), chain(80), chain(82, tls)],
      `[{ tls_inspector: { but_for: { or_match: { rules: [${port(80)}, ${port(81)}] } } } }]`,
    ],
    ['TLS of all', [chain(0, tls), chain(80, tls), chain(80)], '[tls_inspector]'],
    [
      'HTTP of all but the ports whose protocol is known',
      [chain(0, tls), chain(0, http), chain(80, tls)],
      `[tls_inspector, { http_inspector: { but_for: ${port(80)} } }]`,
    ],
    ['HTTP of all', [chain(0, http)], '[http_inspector]'],
  ])('%s', (_, chains, filters) => {
    const message = { listenerFilters: inspectors(chains) };
    expect(messageYaml(ListenerSchema, message, shortFilters)).toBe(
      canonical(filters === '[]' ? '{}' : `listener_filters: ${filters}`),
    );
  });
});
