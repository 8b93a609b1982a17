import type { AgentState, Exit } from './model.ts';
import type { NarratedLine } from './narrate.ts';
import { newestEpoch } from './newest-epoch.ts';
import { unreachable } from './unreachable.ts';

/** What there is to say of the end of an epoch, by what it was before. Pure. */
export function narrateEnd(epoch: number, exit: Exit, before: AgentState): NarratedLine {
  const stage = before.epochs.get(epoch)?.stage;
  const expected = stage === 'stopping' || before.phase !== 'running';
  switch (exit.kind) {
    case 'clean':
      if (stage !== 'retiring') return { level: 'info', msg: 'epoch ended', epoch };
      if (expected || newestEpoch(before)?.weaned !== false) return { level: 'info', msg: 'epoch has drained and ended', epoch };
      return { level: 'warn', msg: 'epoch ended before its time: its child can not go on without it', epoch };
    case 'failed':
      return { level: 'error', msg: 'epoch failed', epoch, kind: exit.kind, code: exit.code, tail: exit.tail };
    case 'signaled': {
      if (expected) return { level: 'info', msg: 'epoch was ended', epoch, signal: exit.signal };
      const ours = before.epochs.get(epoch)?.answering === false;
      const hint = exit.signal === 'SIGKILL' && !ours ? memoryHint(exit.outOfMemory) : {};
      return { level: 'error', msg: 'epoch failed', epoch, kind: exit.kind, signal: exit.signal, ...hint, tail: exit.tail };
    }
    case 'spawn-failed':
      return { level: 'error', msg: 'Envoy could not be started', epoch, kind: exit.kind, reason: exit.reason };
    case 'unknown':
      if (expected) return { level: 'info', msg: 'epoch was ended', epoch };
      return { level: 'error', msg: 'epoch failed', epoch, kind: exit.kind, tail: exit.tail };
    default:
      return unreachable(exit);
  }
}

function memoryHint(outOfMemory: boolean | undefined): { readonly hint?: string } {
  if (outOfMemory === undefined) return { hint: 'may be out of memory' };
  return outOfMemory ? { hint: 'out of memory' } : {};
}
