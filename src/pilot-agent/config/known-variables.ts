import type * as z from 'zod/mini';
import { environment } from './environment.ts';
import { value } from '../../shared/text/value.ts';

/** Istio accepts any variable that begins so. */
export const freeVariable = /^ISTIO_META(?:JSON)?_/;

/**
 * Returns the variables that the configuration is read from, each with the kind of its value; not
 * `PATH`, which every process has. Pure.
 */
export function knownVariables(): ReadonlyMap<string, z.ZodMiniType> {
  const kinds = new Map<string, z.ZodMiniType>();
  const add = (name: string, kind: z.ZodMiniType) => void kinds.set(name, kind);
  const recorder = new Proxy<NodeJS.ProcessEnv>(
    {},
    { get: (_, name) => add(String(name), kinds.get(String(name)) ?? value.text) },
  );
  environment(recorder, add);
  kinds.delete('PATH');
  return kinds;
}
