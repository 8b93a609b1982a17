import type { Json } from './json.ts';

/** The ports of the pod as Pilot reads them, out of a JSON list in a text; undefined if it is none. Pure. */
export function podPorts(text: string): string | undefined {
  try {
    const value = JSON.parse(text) as Json;
    if (!Array.isArray(value)) return undefined;
    const ports = value.map((port: Json) => {
      const { name, containerPort = 0, protocol = '' } = port as Readonly<Record<string, Json>>; // throws at what has no members
      const fits = ['string', 'undefined'].includes(typeof name) && Number.isInteger(containerPort) && typeof protocol === 'string';
      return fits ? { name: name === '' ? undefined : name, containerPort, protocol } : undefined;
    });
    return ports.includes(undefined) ? undefined : JSON.stringify(ports);
  } catch {
    return undefined;
  }
}
