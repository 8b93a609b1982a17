import { agentEvents } from './catalogue/agent-events.ts';
import { discoveryEvents } from './catalogue/discovery-events.ts';
import { epochEvents } from './catalogue/epoch-events.ts';
import { secretEvents } from './catalogue/secret-events.ts';

/**
 * What the lines of the log report, by code, and what they say of it. Codes stay; sentences may
 * change. The reference of the log has the comment above each: comments are not bundled.
 */
export const logEvents = { ...agentEvents, ...epochEvents, ...secretEvents, ...discoveryEvents };

export type LogEvent = keyof typeof logEvents;
