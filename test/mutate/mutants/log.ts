import type { Mutant } from '../mutant.ts';

export const log: readonly Mutant[] = [
  { id: 'log/terminal-controls', file: 'log/terminal-lines.ts', find: 'printable(text)', replace: 'text' },
  { id: 'log/terminal-lines', file: 'log/terminal-lines.ts', find: ".replaceAll('\\n', '\\n      | ')", replace: '' },
  { id: 'log/dumb-terminal', file: 'terminal/paint.ts', find: "env['TERM'] !== 'dumb'", replace: 'true' },
  { id: 'log/forced-colours', file: 'terminal/paint.ts', find: "!['0', 'false'].includes(forced)", replace: 'true' },
  { id: 'log/component-colour', file: 'log/terminal-lines.ts', find: "component.startsWith('envoy.')", replace: 'component === "envoy"' },
  { id: 'log/most-lines', file: 'log/envoy-lines.ts', find: 'pending.text.length >= mostLines', replace: 'false' },
  { id: 'log/quiet-counted', file: 'log/envoy-lines.ts', find: 'touched = scheduler.now();', replace: '' },
  { id: 'log/see-errors', file: 'log/see-also.ts', find: "level === 'warn' || level === 'error'", replace: "level === 'warn'" },
  { id: 'log/see-envoy', file: 'log/see-also.ts', find: " && event !== 'envoy.log'", replace: '' },
  { id: 'log/see-exit-other', file: 'run/exit.ts', find: "'exit other'", replace: '`exit ${code}`' },
  { id: 'log/reopened-closed', file: 'log/open-log.ts', find: 'await old?.close();', replace: '' },
  { id: 'log/function-envoy', file: 'log/log-function.ts', find: "line.event !== 'envoy.log' && ", replace: '' },
];
