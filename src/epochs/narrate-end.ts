import { unreachable } from '../operators/tagged-union.ts';
import { isRefusal } from '../shared/log/envoy-refusal.ts';
import type { LogLine } from '../shared/log/log-line.ts';
import { newestEpoch } from './lineage.ts';
import type { AgentState } from './model.ts';
import type { Exit } from './ports.ts';

/** What there is to say of the end of an epoch, by what it was before. Pure. */
export function narrateEnd(epoch: number, exit: Exit, before: AgentState): LogLine {
  const { stage, late } = before.epochs.get(epoch) ?? {};
  const expected = stage === 'stopping' || late === true || before.phase !== 'running';
  switch (exit.kind) {
    case 'clean':
      if (stage !== 'draining')
        return { level: 'info', event: 'epoch.ended', msg: 'epoch ended', epoch };
      if (expected || newestEpoch(before)?.parentTime !== 'running')
        return { level: 'info', event: 'epoch.ended', msg: 'epoch has drained and ended', epoch };
      return {
        level: 'warn',
        event: 'epoch.ended_early',
        msg: 'epoch ended before its time: its child cannot go on without it',
        epoch,
      };
    case 'failed': {
      // The check that follows the end of a first Envoy tells what it refuses.
      const tail = before.served ? exit.tail : exit.tail.filter((line) => !isRefusal(line));
      return {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch,
        kind: exit.kind,
        code: exit.code,
        tail,
      };
    }
    case 'signaled': {
      if (expected)
        return {
          level: 'info',
          event: 'epoch.ended',
          msg: 'epoch was ended',
          epoch,
          signal: exit.signal,
        };
      const ours = before.epochs.get(epoch)?.answering === false;
      const hint = exit.signal === 'SIGKILL' && !ours ? memoryHint(exit.outOfMemory) : {};
      return {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch,
        kind: exit.kind,
        signal: exit.signal,
        ...hint,
        tail: exit.tail,
      };
    }
    case 'spawn-failed':
      return {
        level: 'error',
        event: 'epoch.not_started',
        msg: 'Envoy could not be started',
        epoch,
        kind: exit.kind,
        reason: exit.reason,
      };
    case 'unknown':
      if (expected) return { level: 'info', event: 'epoch.ended', msg: 'epoch was ended', epoch };
      return {
        level: 'error',
        event: 'epoch.failed',
        msg: 'epoch failed',
        epoch,
        kind: exit.kind,
        tail: exit.tail,
      };
    default:
      return unreachable(exit);
  }
}

function memoryHint(outOfMemory: boolean | undefined): { readonly hint?: string } {
  if (outOfMemory === undefined) return { hint: 'may be out of memory' };
  return outOfMemory ? { hint: 'out of memory' } : {};
}
