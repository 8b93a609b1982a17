import { agentEvents } from './catalogue/agent-events.ts';
import { discoveryEvents } from './catalogue/discovery-events.ts';
import { epochEvents } from './catalogue/epoch-events.ts';
import { secretEvents } from './catalogue/secret-events.ts';

/**
 * The events of the log by their codes, with their texts. Codes stay; texts may change. The
 * reference of the log has the comment above each event: comments are not bundled.
 */
export const logEvents = { ...agentEvents, ...epochEvents, ...secretEvents, ...discoveryEvents };

export type LogEvent = keyof typeof logEvents;
