import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** A resource that has one thing that is right, odd or wrong. */
export interface Case {
  readonly kind: string;
  /** What is special about it; of its kind there is no other of this name. */
  readonly name: string;
  readonly spec: unknown;
}

/** What the verdicts on a case are found by. */
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

/** The resource of a case, as it is written for Kubernetes and in a file. */
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
