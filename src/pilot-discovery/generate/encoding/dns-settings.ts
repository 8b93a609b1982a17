import { isIPv6 } from 'node:net';
import { Cluster_DnsLookupFamily as DnsLookupFamily } from '../../../shared/proto/envoy/config/cluster/v3/cluster_pb.ts';
import type { DnsCacheConfigSchema } from '../../../shared/proto/envoy/extensions/common/dynamic_forward_proxy/v3/dns_cache_pb.ts';
import { CaresDnsResolverConfigSchema } from '../../../shared/proto/envoy/extensions/network/dns_resolver/cares/v3/cares_dns_resolver_pb.ts';
import { packed, type Init } from './typed-config.ts';

/** Returns the address family that a proxy can reach, from its own addresses. */
export const dnsFamily = (addresses: readonly string[]): DnsLookupFamily =>
  addresses.length > 0 && addresses.every(isIPv6)
    ? DnsLookupFamily.V6_ONLY
    : DnsLookupFamily.V4_ONLY;

/** The resolver of names. By default c-ares keeps one socket, and so asks one server only. */
export const dnsResolver = () => ({
  name: 'envoy.network.dns_resolver.cares',
  typedConfig: packed(CaresDnsResolverConfigSchema, { udpMaxQueries: 100 }),
});

/**
 * Returns the cache of the names of calls. The clusters and the filters of a proxy share it: Envoy
 * refuses two caches of one name that differ. It holds up to 1,024 names, each for 5 minutes after
 * its last call (defaults of Envoy).
 */
export const dnsCache = (addresses: readonly string[]): Init<typeof DnsCacheConfigSchema> => ({
  name: 'dynamic_dns',
  dnsLookupFamily: dnsFamily(addresses),
  typedDnsResolverConfig: dnsResolver(),
});
