import type { PlacedMutant } from '../mutant.ts';

export const log: readonly PlacedMutant[] = [
  {
    id: 'log/terminal-controls',
    file: 'shared/log/terminal-lines.ts',
    find: 'printable(text)',
    replace: 'text',
  },
  {
    id: 'log/terminal-lines',
    file: 'shared/log/terminal-lines.ts',
    find: ".replaceAll('\\n', '\\n      | ')",
    replace: '',
  },
  {
    id: 'log/dumb-terminal',
    file: 'shared/log/paint.ts',
    find: "env['TERM'] !== 'dumb'",
    replace: 'true',
  },
  {
    id: 'log/forced-colours',
    file: 'shared/log/paint.ts',
    find: "!['0', 'false'].includes(forced)",
    replace: 'true',
  },
  {
    id: 'log/component-colour',
    file: 'shared/log/terminal-lines.ts',
    find: "component.startsWith('envoy.')",
    replace: 'component === "envoy"',
  },
  {
    id: 'log/most-lines',
    file: 'proxy/envoy-lines.ts',
    find: 'pending.text.length >= mostLines',
    replace: 'false',
  },
  {
    id: 'log/quiet-counted',
    file: 'proxy/envoy-lines.ts',
    find: 'touched = scheduler.now();',
    replace: '',
  },
  {
    id: 'log/see-errors',
    file: 'shared/log/see-also.ts',
    find: "level === 'warn' || level === 'error'",
    replace: "level === 'warn'",
  },
  {
    id: 'log/see-envoy',
    file: 'shared/log/see-also.ts',
    find: " && event !== 'envoy.log'",
    replace: '',
  },
  {
    id: 'log/see-exit-other',
    file: 'shared/program/exit.ts',
    find: "'exit other'",
    replace: '`exit ${code}`',
  },
  {
    id: 'log/reopened-closed',
    file: 'shared/log/open-log.ts',
    find: 'await old?.close();',
    replace: '',
  },
  {
    id: 'log/function-envoy',
    file: 'shared/log/log-function.ts',
    find: "line.event !== 'envoy.log' && ",
    replace: '',
  },
];
