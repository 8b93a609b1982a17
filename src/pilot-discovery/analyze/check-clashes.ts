import { resourceAt } from '../environment/resources.ts';
import { listenerClashes } from '../generate/listeners/listener-clashes.ts';
import { type Check, finding } from './facts.ts';

/**
 * Finds ports for which a proxy gets no listener, because an older service has the same address and
 * port.
 */
export const checkClashes: Check = function* ({ environment }) {
  for (const { key, reason } of listenerClashes(environment)) {
    const resource = resourceAt(environment.resources, key);
    if (resource !== undefined) yield finding('IST0133', resource, 'spec.ports', reason);
  }
};
