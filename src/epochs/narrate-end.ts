import { unreachable } from '../operators/tagged-union.ts';
import { isRefusal } from '../shared/log/envoy-refusal.ts';
import { line, type LogLine } from '../shared/log/log-line.ts';
import { newestEpoch } from './lineage.ts';
import type { AgentState } from './model.ts';
import type { Exit } from './ports.ts';

/** Returns the log line about the end of an epoch. It depends on the state before. Pure. */
export function narrateEnd(epoch: number, exit: Exit, before: AgentState): LogLine {
  const { stage, late } = before.epochs.get(epoch) ?? {};
  const expected = stage === 'stopping' || late === true || before.phase !== 'running';
  switch (exit.kind) {
    case 'clean':
      if (stage !== 'draining') return line('epoch.ended', { epoch }, 'ended');
      if (expected || newestEpoch(before)?.parentTime !== 'running')
        return line('epoch.ended', { epoch }, 'drained');
      return line('epoch.ended_early', { epoch });
    case 'failed': {
      // After the end of a first Envoy a check reports what Envoy refuses.
      const tail = before.served ? exit.tail : exit.tail.filter((line) => !isRefusal(line));
      return line('epoch.failed', { epoch, kind: exit.kind, code: exit.code, tail });
    }
    case 'signaled': {
      if (expected) return line('epoch.ended', { epoch, signal: exit.signal }, 'asked');
      const ours = before.epochs.get(epoch)?.answering === false;
      const hint = exit.signal === 'SIGKILL' && !ours ? memoryHint(exit.outOfMemory) : {};
      return line('epoch.failed', {
        epoch,
        kind: exit.kind,
        signal: exit.signal,
        ...hint,
        tail: exit.tail,
      });
    }
    case 'spawn-failed':
      return line('epoch.not_started', { epoch, kind: exit.kind, reason: exit.reason });
    case 'unknown':
      if (expected) return line('epoch.ended', { epoch }, 'asked');
      return line('epoch.failed', { epoch, kind: exit.kind, tail: exit.tail });
    default:
      return unreachable(exit);
  }
}

function memoryHint(outOfMemory: boolean | undefined): { readonly hint?: string } {
  if (outOfMemory === undefined) return { hint: 'may be out of memory' };
  return outOfMemory ? { hint: 'out of memory' } : {};
}
