import type { LogLine } from '../../../shared/log/log-line.ts';
import type { Part } from '../state/part.ts';
import type { ServersSign } from '../state/view.ts';

/** Returns a function that makes a sign from a log line of a server beside Envoy. Pure. */
export function serversLog(component: Part): (line: LogLine) => ServersSign {
  return (line) => ({ type: 'servers-log', line: { component, ...line } });
}
