import type { Place, ReadMember } from '../fields/members.ts';

/**
 * The replacement of a refused resource that restricts access and that never had a good version.
 */
export interface IfRefused<T> {
  /** The consequence, in a sentence. */
  readonly consequence: string;
  /**
   * Reads as much as possible of a resource that also has errors outside the settings that restrict
   * access.
   */
  readonly otherwise?: ReadMember<T>;
}

/**
 * Returns the spec that replaces a refused one: the same, but with wrong settings closed. If it has
 * other errors, the spec closes all access to the workloads that it selects, as far as the selector
 * can be read. Undefined if the other settings of the kind restrict nothing.
 */
export function closedSpec<T>(
  read: ReadMember<T>,
  { otherwise }: IfRefused<T>,
  spec: unknown,
  isSecurity: boolean,
): T | undefined {
  const given = spec ?? undefined;
  const written =
    given === undefined && isSecurity
      ? undefined
      : quietly(read, given, isSecurity ? 'error' : 'warning');
  if (written !== undefined || otherwise === undefined) return written;
  return quietly(otherwise, given, 'error') ?? quietly(otherwise, undefined, 'error');
}

/** Reads a value; undefined if it has an error that closing does not cover. */
function quietly<T>(read: ReadMember<T>, value: unknown, unknown: Place['unknown']): T | undefined {
  const wrong: string[] = [];
  const tell: Place['tell'] = (path, _, severity) => {
    if (severity === 'error') wrong.push(path);
  };
  const result = read(value, { parent: undefined, step: 'spec', unknown, ifWrong: 'close', tell });
  return wrong.length > 0 ? undefined : result;
}
