/** What the lines of the control plane report: a part of the catalogue of `log-event.ts`. */
export const discoveryLogEvents = {
  'discovery.started': { level: 'info', text: 'The control plane starts.' },
  'discovery.ready': {
    level: 'info',
    text: 'The control plane has read all sources, and answers proxies.',
  },
  'discovery.failed': {
    level: 'fatal',
    text: 'The control plane ends with a failure. The line has the exit code and the reason.',
  },
  'discovery.draining': {
    level: 'info',
    text: 'The control plane sends its proxies elsewhere, and ends then.',
  },
  'discovery.ended': { level: 'info', text: 'The control plane ends.' },
  'discovery.flag_ignored': {
    level: 'warn',
    text: 'A flag or a variable of the control plane has no effect.',
  },
  'discovery.removals_held': {
    level: 'error',
    text: 'A source has lost much at once. The removals are held back.',
  },
  'discovery.removals_over': {
    level: 'info',
    text: 'No removals are held back any longer.',
  },
  'discovery.open': { level: 'warn', text: 'Others than this machine reach xDS without TLS.' },
  'discovery.source_lost': {
    level: 'warn',
    text: 'A source of the control plane cannot be read. What it has told stays.',
  },
  'discovery.source_back': {
    level: 'info',
    text: 'A source of the control plane can be read again.',
  },
  'discovery.refused': {
    level: 'error',
    text: 'A resource is refused. Its last good version stays, and all others go on.',
  },
  'discovery.passed_over': {
    level: 'info',
    text: 'Documents that are no rules of Istio are passed over. The line counts them by kind.',
  },
  'discovery.unserved': {
    level: 'warn',
    text: 'A part of a resource is not served yet. The rest of it is.',
  },
  'discovery.mended': { level: 'info', text: 'A resource that was refused is right again.' },
  'discovery.pushed': { level: 'info', text: 'Changed resources are given to the proxies.' },
  'discovery.connected': { level: 'info', text: 'A proxy has connected.' },
  'discovery.disconnected': { level: 'info', text: 'A proxy has disconnected.' },
  'discovery.rejected': {
    level: 'error',
    text: 'A proxy has rejected resources, and goes on with those before.',
  },
  'discovery.stream_refused': { level: 'warn', text: 'The control plane has refused a stream.' },
} as const;
