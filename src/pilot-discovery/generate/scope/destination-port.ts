import type { Services } from './visible-services.ts';

/**
 * Returns the port of a destination that names none, at a gateway: that of the service if it has
 * only one, else that of the listener.
 */
export function destinationPort(services: Services, host: string, listenerPort: number): number {
  const [port, ...others] = services.get(host)?.ports ?? [];
  return port !== undefined && others.length === 0 ? port.number : listenerPort;
}
