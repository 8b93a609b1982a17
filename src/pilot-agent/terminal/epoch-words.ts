import type { EpochReport } from '../report/epoch-report.ts';
import { exitText, whyText } from '../report/epoch-table.ts';
import type { Cell } from './table-lines.ts';
import { oneLine } from './text-width.ts';

/** Returns whether an Envoy ended although it was not asked to. Pure. */
export function hasCrashed({ exit }: EpochReport): boolean {
  return exit !== undefined && !exit.expected && exit.kind !== 'clean';
}

/** Returns the state of an epoch, in a word. Pure. */
export function stateOf(epoch: EpochReport): Exclude<Cell, string> {
  if (epoch.state === 'ended')
    return hasCrashed(epoch) ? { text: 'crashed', style: 'red' } : { text: 'ended', style: 'dim' };
  if (epoch.answering === false) return { text: `${epoch.state}, silent`, style: 'red' };
  if (epoch.state === 'live') return { text: 'live', style: 'green' };
  return { text: epoch.state, style: epoch.state === 'starting' ? 'cyan' : 'yellow' };
}

/** Returns why an epoch was started and, if it has crashed, how. Pure. */
export function whyOf(epoch: EpochReport): string {
  const end = epoch.exit !== undefined && hasCrashed(epoch) ? `${exitText(epoch.exit)}; ` : '';
  return oneLine(`${end}${whyText(epoch)}`);
}

/** Returns how an Envoy ended, with its last words. Pure. */
export function endOf(exit: NonNullable<EpochReport['exit']>): string {
  return oneLine(
    [exitText(exit), exit.lastWords.join(' / ')].filter((text) => text !== '').join(': '),
  );
}
