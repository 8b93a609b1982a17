import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A resource with one thing that is right, odd or wrong. */
export interface Case {
  readonly kind: string;
  /** The special thing about it, a unique name among the cases of its kind. */
  readonly name: string;
  readonly spec: unknown;
}

/** Returns the key of a case in the verdicts. */
export const keyOf = ({ kind, name }: Case): string => `${kind}: ${name}`;

const folder = join(import.meta.dirname, 'cases');

/** All cases of `cases/KIND.yaml`, in the order of the files and of their lines. */
export const cases: readonly Case[] = readdirSync(folder).flatMap((file) => {
  const kind = file.replace('.yaml', '');
  const specs = parse(readFileSync(join(folder, file), 'utf8')) as Readonly<
    Record<string, unknown>
  >;
  return Object.entries(specs).map(([name, spec]) => ({ kind, name, spec }));
});

/** Returns the resource of a case, as it is written for Kubernetes and in a file. */
export function resourceOf({ kind, spec }: Case) {
  const isSecurity = [
    'PeerAuthentication',
    'AuthorizationPolicy',
    'RequestAuthentication',
  ].includes(kind);
  const group = isSecurity ? 'security' : kind === 'Telemetry' ? 'telemetry' : 'networking';
  return {
    apiVersion: `${group}.istio.io/v1`,
    kind,
    metadata: { name: 'case', namespace: 'shop' },
    spec,
  };
}
