import { unreachable } from '../../operators/tagged-union.ts';
import { line, type LogLine } from '../../shared/log/log-line.ts';
import type { ObjectStatusEvent } from './object-status-event.ts';

/** Returns the line about the instance that writes the status of resources. Pure. */
export function narrateStatus(event: ObjectStatusEvent): LogLine {
  switch (event.type) {
    case 'status-writer-elected':
      return line('discovery.status_writer', { holder: event.holder });
    case 'status-writer-resigned':
      return line('discovery.status_writer_over', { reason: event.reason });
    case 'statuses-refused':
      return line('discovery.status_refused', { reason: event.reason });
    case 'status-contested':
      return line('discovery.status_contested', { resource: event.key });
    default:
      return unreachable(event);
  }
}
