import type { Observable } from 'rxjs';
import type { StoreEvent } from '../../src/pilot-discovery/environment/store-event.ts';
import {
  mcpSource,
  type McpSourceOptions,
} from '../../src/pilot-discovery/registry/mcp/mcp-source.ts';

/**
 * Returns a source that reads the resources of a control plane in plain text, as an instance does.
 */
export function mcpAt(
  address: string,
  {
    namespaces = [],
    bodies = 'dropped',
  }: {
    readonly namespaces?: readonly string[];
    readonly bodies?: McpSourceOptions['bodies'];
  } = {},
): Observable<StoreEvent> {
  return mcpSource({
    server: { address, namespaces, tokenFile: '', tls: undefined },
    name: 'xds',
    bodies,
    self: { name: 'istiod', namespace: 'istio-system' },
  });
}
