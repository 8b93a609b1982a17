import type { Retries } from '../../istio/traffic/virtual-service.ts';
import type { RetryPolicySchema } from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import { PreviousHostsPredicateSchema } from '../../../shared/proto/envoy/extensions/retry/host/previous_hosts/v3/previous_hosts_pb.ts';
import { PreviousPrioritiesConfigSchema } from '../../../shared/proto/envoy/extensions/retry/priority/previous_priorities/v3/previous_priorities_config_pb.ts';
import { protoDuration } from '../encoding/proto-duration.ts';
import { typedConfig, type Init } from '../encoding/typed-config.ts';

type RetryPolicy = Init<typeof RetryPolicySchema>;

const defaultRetryOn =
  'connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes';

/**
 * Returns when a request is tried again: twice by default, never with 0 attempts. The next attempt
 * goes to another host, unless a hash selects the host.
 */
export function retryPolicy(
  retries: Retries | undefined,
  hosts: 'any' | 'by-hash',
): RetryPolicy | undefined {
  if (retries !== undefined && retries.attempts <= 0) return undefined;
  const { retryOn, codes } = conditions(retries?.retryOn ?? '');
  return {
    retryOn,
    numRetries: retries?.attempts ?? 2,
    retriableStatusCodes: codes,
    hostSelectionRetryMaxAttempts: 5n,
    ...((retries?.retryIgnorePreviousHosts ?? hosts === 'any') && {
      retryHostPredicate: [previousHosts],
    }),
    ...(retries?.perTryTimeoutMs !== undefined && {
      perTryTimeout: protoDuration(retries.perTryTimeoutMs),
    }),
    ...(retries?.retryRemoteLocalities === true && { retryPriority: previousPriorities }),
    ...(retries?.backoffMs !== undefined && {
      retryBackOff: { baseInterval: protoDuration(retries.backoffMs) },
    }),
  };
}

/** Splits conditions: the numbers among them are status codes. */
function conditions(retryOn: string): { readonly retryOn: string; readonly codes: number[] } {
  if (retryOn === '') return { retryOn: defaultRetryOn, codes: [] };
  const parts = retryOn
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const codes = parts.filter((part) => /^\d+$/.test(part)).map(Number);
  const named = parts.filter((part) => !/^\d+$/.test(part));
  const all =
    codes.length > 0 && !named.includes('retriable-status-codes')
      ? [...named, 'retriable-status-codes']
      : named;
  return { retryOn: all.join(','), codes };
}

const previousHosts = typedConfig(
  'envoy.retry_host_predicates.previous_hosts',
  PreviousHostsPredicateSchema,
);

const previousPriorities = typedConfig(
  'envoy.retry_priorities.previous_priorities',
  PreviousPrioritiesConfigSchema,
  {
    updateFrequency: 2,
  },
);
