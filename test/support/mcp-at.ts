import type { Observable } from 'rxjs';
import type { StoreEvent } from '../../src/pilot-discovery/environment/store-event.ts';
import {
  mcpSource,
  type McpSourceOptions,
} from '../../src/pilot-discovery/registry/mcp/mcp-source.ts';

/** The resources of a control plane at an address in plain text, as an instance reads them. */
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
