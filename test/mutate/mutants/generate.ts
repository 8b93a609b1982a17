import type { Mutant } from '../mutant.ts';

export const generate: readonly Mutant[] = [
  {
    id: 'generate/routes/status-codes-need-a-condition',
    file: 'pilot-discovery/generate/routes/retry-policy.ts',
    find: "codes.length > 0 && !named.includes('retriable-status-codes')",
    replace: 'false',
  },
  {
    id: 'generate/routes/hash-stays-on-its-host',
    file: 'pilot-discovery/generate/routes/retry-policy.ts',
    find: 'retries?.retryIgnorePreviousHosts ?? !hashed',
    replace: 'retries?.retryIgnorePreviousHosts ?? true',
  },
  {
    id: 'generate/routes/header-that-is-missing',
    file: 'pilot-discovery/generate/routes/route-match.ts',
    find: 'treatMissingHeaderAsEmpty: match !== undefined',
    replace: 'treatMissingHeaderAsEmpty: false',
  },
  {
    id: 'generate/routes/usual-port-of-https',
    file: 'pilot-discovery/generate/routes/route-action.ts',
    find: "scheme === 'https' ? 443",
    replace: "scheme === 'https' ? 80",
  },
  {
    id: 'generate/routes/mirror-of-none',
    file: 'pilot-discovery/generate/routes/route-action.ts',
    find: '.filter(({ percentage }) => percentage > 0)',
    replace: '.filter(() => true)',
  },
  {
    id: 'generate/routes/hash-of-the-subset-first',
    file: 'pilot-discovery/generate/routes/hash-policy.ts',
    find: 'keyFor(named, port) ?? keyFor(rule?.trafficPolicy, port)',
    replace: 'keyFor(rule?.trafficPolicy, port) ?? keyFor(named, port)',
  },
  {
    id: 'generate/clusters/keepalive-in-seconds',
    file: 'pilot-discovery/generate/clusters/connection-pool.ts',
    find: 'Math.trunc(keepalive.timeMs / 1000)',
    replace: 'keepalive.timeMs',
  },
  {
    id: 'generate/clusters/idle-of-http-first',
    file: 'pilot-discovery/generate/clusters/connection-pool.ts',
    find: 'http.idleTimeoutMs ?? tcp.idleTimeoutMs',
    replace: 'tcp.idleTimeoutMs ?? http.idleTimeoutMs',
  },
  {
    id: 'generate/clusters/alpn-stays',
    file: 'pilot-discovery/generate/clusters/cluster-metadata.ts',
    find: "...(isOriginated && { alpn_override: 'false' }),",
    replace: '',
  },
  {
    id: 'generate/endpoints/panic-threshold',
    file: 'pilot-discovery/generate/endpoints/load-balancing.ts',
    find: 'outlierDetection.minHealthPercent ?? 0',
    replace: 'outlierDetection.minHealthPercent ?? 50',
  },
  {
    id: 'generate/endpoints/failover-elsewhere',
    file: 'pilot-discovery/generate/endpoints/locality-lb.ts',
    find: 'next === undefined || next.to === region ? 3 : 4',
    replace: '3',
  },
  {
    id: 'generate/endpoints/shares-are-rounded-up',
    file: 'pilot-discovery/generate/endpoints/locality-lb.ts',
    find: 'Math.ceil((one.weight * share) / total)',
    replace: 'Math.floor((one.weight * share) / total)',
  },
  {
    id: 'generate/endpoints/canonical-name',
    file: 'pilot-discovery/generate/endpoints/load-assignment.ts',
    find: "labels['app.kubernetes.io/name'] ??",
    replace: '',
  },
  {
    id: 'generate/tls/roots-of-the-machine',
    file: 'pilot-discovery/generate/tls/upstream-tls.ts',
    find: "tls.caCertificates || 'system'",
    replace: 'tls.caCertificates',
  },
  {
    id: 'generate/tls/secret-for-nobody',
    file: 'pilot-discovery/generate/tls/upstream-tls.ts',
    find: "credentialName !== '' && !hasSecrets",
    replace: 'false',
  },
  {
    id: 'generate/tls/certificate-of-the-proxy',
    file: 'pilot-discovery/generate/tls/upstream-tls.ts',
    find: 'files !== undefined && !inputs.isExternal',
    replace: 'files !== undefined',
  },
  {
    id: 'generate/tls/key-without-a-chain',
    file: 'pilot-discovery/generate/tls/downstream-tls.ts',
    find: "serverCertChain === '' || serverKey === ''",
    replace: "serverKey === ''",
  },
  {
    id: 'generate/tls/port-disables-it',
    file: 'pilot-discovery/generate/tls/asked-for-mutual-tls.ts',
    find: 'ports.get(port) ?? mode',
    replace: 'mode',
  },
  {
    id: 'generate/scope/inline-by-name',
    file: 'pilot-discovery/generate/scope/with-workload.ts',
    find: 'one.service.key < first.service.key',
    replace: 'one.service.key > first.service.key',
  },
  {
    id: 'generate/scope/selected-entry-first',
    file: 'pilot-discovery/generate/scope/with-workload.ts',
    find: 'isSelected ? undefined : inlineEndpoint(served)',
    replace: 'inlineEndpoint(served)',
  },
];
