import type { PlacedMutant } from '../mutant.ts';

export const terminal: readonly PlacedMutant[] = [
  {
    id: 'terminal/any-key-orders',
    file: 'pilot-agent/terminal/top-keys.ts',
    find: "const isSure = key.name === 'y' && !key.isCtrl;",
    replace: 'const isSure = true;',
  },
  {
    id: 'terminal/cursor-restored',
    file: 'pilot-agent/terminal/screen.ts',
    find: "'\\x1b[0m\\x1b[?7h\\x1b[?25h\\x1b[?1049l'",
    replace: "'\\x1b[0m\\x1b[?1049l'",
  },
  {
    id: 'terminal/last-column',
    file: 'pilot-agent/terminal/screen.ts',
    find: '\\x1b[K${line}\\x1b[0m',
    replace: '${line}\\x1b[0m\\x1b[K',
  },
  {
    id: 'terminal/newest-first',
    file: 'pilot-agent/terminal/status-tables.ts',
    find: 'epochs.toReversed()',
    replace: 'epochs',
  },
  {
    id: 'terminal/no-rate-unserved',
    file: 'pilot-agent/terminal/top-screen.ts',
    find: '&& servingEpoch(epochs) !== undefined',
    replace: '',
  },
  {
    id: 'terminal/raw-mode-ends',
    file: 'pilot-agent/terminal/screen.ts',
    find: 'input.setRawMode(false).pause();',
    replace: 'input.pause();',
  },
  {
    id: 'terminal/printable',
    file: 'pilot-agent/terminal/text-width.ts',
    find: "return printable(text.replace(/\\s+/g, ' ').trim());",
    replace: 'return text;',
  },
  {
    id: 'terminal/begins-anew',
    file: 'pilot-agent/report/agent-view.ts',
    find: ': { ...emptyAgentView, report: liveEvent.data };',
    replace: ': { ...before, report: liveEvent.data };',
  },
  {
    id: 'terminal/counts-fall',
    file: 'pilot-agent/terminal/rates.ts',
    find: 'Math.max(0, to - from)',
    replace: '(to - from)',
  },
  {
    id: 'terminal/crash-drawn',
    file: 'pilot-agent/terminal/life-line.ts',
    find: "hasCrashed(epoch) ? 'crash' : 'end'",
    replace: "'end'",
  },
  {
    id: 'terminal/not-ready-is-1',
    file: 'pilot-agent/cli/status.ts',
    find: 'if (!report.ready.ok) throw',
    replace: 'if (false) throw',
  },
  {
    id: 'terminal/looked-for-again',
    file: 'pilot-agent/cli/live.ts',
    find: 'repeat({ delay: pause }),',
    replace: '',
  },
  {
    id: 'terminal/event-in-pieces',
    file: 'shared/http/server-sent-events.ts',
    find: 'decoder.decode(bytes, { stream: true })',
    replace: 'bytes.toString()',
  },
];
