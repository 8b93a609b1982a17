import type { LogLine } from '../../../shared/log/log-line.ts';
import type { Part } from '../state/part.ts';
import type { ServersSign } from '../state/view.ts';

/** Makes the signs of a server beside Envoy that has lines for the log. Pure. */
export function serversLog(component: Part): (own: LogLine) => ServersSign {
  return (own) => ({ type: 'servers-log', line: { component, ...own } });
}
