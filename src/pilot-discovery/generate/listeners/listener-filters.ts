import type {
  FilterChainSchema,
  ListenerFilterChainMatchPredicateSchema,
  ListenerFilterSchema,
} from '../../../shared/proto/envoy/config/listener/v3/listener_components_pb.ts';
import { HttpInspectorSchema } from '../../../shared/proto/envoy/extensions/filters/listener/http_inspector/v3/http_inspector_pb.ts';
import { OriginalDstSchema } from '../../../shared/proto/envoy/extensions/filters/listener/original_dst/v3/original_dst_pb.ts';
import { OriginalSrcSchema } from '../../../shared/proto/envoy/extensions/filters/listener/original_src/v3/original_src_pb.ts';
import { TlsInspectorSchema } from '../../../shared/proto/envoy/extensions/filters/listener/tls_inspector/v3/tls_inspector_pb.ts';
import { typedConfig, type Init } from '../encoding/typed-config.ts';

type ListenerFilter = Init<typeof ListenerFilterSchema>;
type Predicate = Init<typeof ListenerFilterChainMatchPredicateSchema>;
type FilterChain = Init<typeof FilterChainSchema>;

/** Finds the original destination of a redirected connection. */
export const originalDestination: ListenerFilter = typedConfig(
  'envoy.filters.listener.original_dst',
  OriginalDstSchema,
);

/**
 * Connects to the application from the address of the client. The mark distinguishes these
 * connections from others in the rules of TPROXY, as Istio sets them up.
 */
export const originalSource: ListenerFilter = typedConfig(
  'envoy.filters.listener.original_src',
  OriginalSrcSchema,
  { mark: 1337 },
);

/** Detects TLS and its server name. */
export const tlsInspector: ListenerFilter = typedConfig(
  'envoy.filters.listener.tls_inspector',
  TlsInspectorSchema,
  {
    initialReadBufferSize: 512,
  },
);

/** Detects HTTP in plain text, and its version. */
export const httpInspector: ListenerFilter = typedConfig(
  'envoy.filters.listener.http_inspector',
  HttpInspectorSchema,
);

/** The names of plain HTTP in the inspector. */
export const plainHttpProtocols: readonly string[] = ['http/1.1', 'h2c'];

/**
 * Returns the inspectors that the chains of an inbound listener need, each only for the ports that
 * need it. An inspector waits for a first byte of the client; if the server speaks first, there is
 * none.
 */
export function inspectors(chains: readonly FilterChain[]): ListenerFilter[] {
  const ports = new Map<number, { readonly tls: boolean; readonly http: boolean }>();
  for (const { filterChainMatch } of chains) {
    const port = filterChainMatch?.destinationPort ?? 0;
    const before = ports.get(port);
    ports.set(port, {
      tls: before?.tls === true || filterChainMatch?.transportProtocol === 'tls',
      http:
        before?.http === true ||
        filterChainMatch?.applicationProtocols?.some((name) =>
          plainHttpProtocols.includes(name),
        ) === true,
    });
  }
  const portsOf = (
    wanted: (needs: { readonly tls: boolean; readonly http: boolean }) => boolean,
  ): number[] =>
    [...ports].flatMap(([port, needs]) => (wanted(needs) ? [port] : [])).sort((a, b) => a - b);
  const withTls = portsOf(({ tls }) => tls);
  const withHttp = portsOf(({ http }) => http);
  const tlsDisabled =
    ports.get(0)?.tls === true ? among(portsOf(({ tls }) => !tls)) : not(among(withTls));
  return [
    ...(withTls.length > 0 ? [disabledFor(tlsInspector, tlsDisabled)] : []),
    ...(withHttp.length > 0
      ? [disabledFor(httpInspector, among(portsOf(({ http }) => !http)))]
      : []),
  ];
}

const disabledFor = (
  filter: ListenerFilter,
  filterDisabled: Predicate | undefined,
): ListenerFilter => (filterDisabled === undefined ? filter : { ...filter, filterDisabled });

function among(ports: readonly number[]): Predicate | undefined {
  const rules = ports.map((start): Predicate => ({
    rule: { case: 'destinationPortRange', value: { start, end: start + 1 } },
  }));
  return rules.length > 1 ? { rule: { case: 'orMatch', value: { rules } } } : rules[0];
}

const not = (predicate: Predicate | undefined): Predicate | undefined =>
  predicate === undefined ? undefined : { rule: { case: 'notMatch', value: predicate } };
