import { line, type LogLine } from '../../shared/log/log-line.ts';
import type { Fold } from '../../operators/feedback.ts';
import type { SourceChange } from '../../streams/config-source.ts';
import type { SourceSign } from '../../streams/readings.ts';
import { effectOf } from './start/effect-of.ts';
import type { ShapedConfig } from './start/shape-source.ts';
import type { SourceStatuses } from './state/source-status.ts';
import type { RunEvent, RunView } from './state/view.ts';

/** Returns the log lines about the sources of configuration, and about what they change. Pure. */
export function narrateSources({
  value: { sign },
  before,
  state,
}: Fold<RunView, RunEvent>): readonly LogLine[] {
  switch (sign.type) {
    case 'window-opened': {
      const { source, path, delayMs } = sign;
      const fields = { ...(source !== undefined && { source }), path, delayMs };
      return [line('config.change_seen', { component: 'watcher', ...fields })];
    }
    case 'watch-failed': {
      const { path, reason } = sign;
      return [line('config.watch_failed', { component: 'watcher', path, reason })];
    }
    case 'read':
      return [...readAgain(before.sources, state.sources), ...narrateReading(sign, before)];
    case 'source-read':
      return readAgain(before.sources, state.sources);
    case 'source-unreadable':
      return unreadable(sign, before.sources);
    case 'runtime-told':
      return [line('runtime.told', { epoch: sign.epoch, settings: JSON.stringify(sign.settings) })];
    case 'runtime-refused': {
      const { epoch, reason, delayMs } = sign;
      return [line('runtime.refused', { epoch, reason, delayMs })];
    }
    default:
      return [];
  }
}

/** Returns the lines about the changes in a reading. The agent itself logs a new epoch. */
function narrateReading(
  { reading, isNew }: Extract<SourceSign<ShapedConfig>, { type: 'read' }>,
  before: RunView,
): readonly LogLine[] {
  const { warnings = [], runtime: settings, contributions = [] } = reading.config ?? {};
  const { effect, because } = effectOf({ isNew, had: before.runtime, settings, contributions });
  const component = 'watcher';
  return [
    ...[...new Set(warnings)]
      .filter((warning) => !before.warned.has(warning))
      .map((warning) => line('config.warning', { component, warning })),
    ...(effect === 'nothing' && before.isChangeReported
      ? [line('config.unchanged', { component, effect })]
      : []),
    ...(effect === 'runtime' ? [line('runtime.changed', { component, effect, because })] : []),
  ];
}

/** Logs the end of an outage, whether the source or a reading of all sources shows it. */
function readAgain(before: SourceStatuses, now: SourceStatuses): readonly LogLine[] {
  return [...now.values()]
    .filter(({ name, trouble }) => trouble === undefined && before.get(name)?.trouble !== undefined)
    .map(({ name }) => line('source.read_again', { component: 'sources', source: name }));
}

/** Logs an outage once. */
function unreadable(
  { source, reason, delayMs }: Extract<SourceChange, { type: 'source-unreadable' }>,
  before: SourceStatuses,
): readonly LogLine[] {
  const { trouble, hash = '' } = before.get(source) ?? {};
  if (trouble?.reason === reason) return [];
  const fields = { component: 'sources', source, reason, delayMs };
  return [line('source.unreadable', fields, hash === '' ? 'none' : 'old')];
}
