import type { Place, ReadMember } from './members.ts';

/** What becomes of a resource that restricts access, and that is refused and was never right. */
export interface IfRefused<T> {
  /** What follows, in a sentence. */
  readonly consequence: string;
  /** Reads what can be read of one that is wrong beyond what restricts access. */
  readonly otherwise?: ReadMember<T>;
}

/**
 * What stands for a refused resource: it is as it is written, but closed where it is wrong. If more
 * is wrong, it is closed as a whole, for the workloads that it selects as far as that can be read.
 * Undefined for a kind of which the rest restricts nothing.
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

/** Undefined if something is wrong other than what is closed for it. */
function quietly<T>(read: ReadMember<T>, value: unknown, unknown: Place['unknown']): T | undefined {
  const wrong: string[] = [];
  const tell: Place['tell'] = (path, _, severity) => {
    if (severity === 'error') wrong.push(path);
  };
  const made = read(value, { parent: undefined, step: 'spec', unknown, ifWrong: 'close', tell });
  return wrong.length > 0 ? undefined : made;
}
