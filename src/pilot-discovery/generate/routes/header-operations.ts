import type { HeaderOperations } from '../../istio/traffic/virtual-service.ts';
import {
  HeaderValueOption_HeaderAppendAction as AppendAction,
  type HeaderValueOptionSchema,
} from '../../../shared/proto/envoy/config/core/v3/base_pb.ts';
import type { Init } from '../encoding/typed-config.ts';

type HeaderOption = Init<typeof HeaderValueOptionSchema>;

/**
 * Returns the headers that a route sets (one value) and adds (one more value), each by name. The
 * host is not among them: {@link authorityOf} returns it.
 */
export function headersToAdd({ set, add }: HeaderOperations): HeaderOption[] {
  return [
    ...named(set).map(([key, value]): HeaderOption => ({
      header: { key, value },
      appendAction: AppendAction.OVERWRITE_IF_EXISTS_OR_ADD,
    })),
    ...named(add).map(([key, value]): HeaderOption => ({ header: { key, value } })),
  ];
}

/**
 * Returns the host that replaces that of the request; undefined if there is none. A request has
 * only one host, so adding a host replaces it too.
 */
export function authorityOf({ set, add }: HeaderOperations): string | undefined {
  return [...Object.entries(set), ...Object.entries(add)].find(([key]) => isHost(key))?.[1];
}

const named = (headers: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(headers)
    .filter(([key]) => !isHost(key))
    .sort(([a], [b]) => (a < b ? -1 : 1));

const isHost = (key: string): boolean => ['host', ':authority'].includes(key.toLowerCase());
