import type { Flag } from '../config/flags.ts';

/** Arguments in which a flag of a boolean that stands alone, which is true, has its value: what comes after such a flag never is it, as in Go. Pure. */
export function spelledOut(args: readonly string[], ...tables: readonly Readonly<Record<string, Flag>>[]): readonly string[] {
  const booleans = tables.flatMap((table) => Object.entries(table).flatMap(([name, { value }]) => (value === 'bool' ? [`--${name}`] : [])));
  return args.map((arg) => (booleans.includes(arg) ? `${arg}=true` : arg));
}
