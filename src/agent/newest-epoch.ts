import type { AgentState, Epoch } from './model.ts';

/** The youngest process that exists: the one that serves, or is about to. */
export function newestEpoch({ epochs }: Pick<AgentState, 'epochs'>): (Epoch & { readonly number: number }) | undefined {
  const number = [...epochs.keys()].at(-1);
  const epoch = number === undefined ? undefined : epochs.get(number);
  return number === undefined || epoch === undefined ? undefined : { ...epoch, number };
}
