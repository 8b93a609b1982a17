import type { AgentState, Epoch } from './model.ts';

/** The youngest process that exists: the one that serves, or is about to. With `line`, the youngest of that line. */
export function newestEpoch({ epochs }: Pick<AgentState, 'epochs'>, line?: number): (Epoch & { readonly number: number }) | undefined {
  const found = [...epochs].findLast(([, epoch]) => line === undefined || epoch.lineage === line);
  return found && { ...found[1], number: found[0] };
}
