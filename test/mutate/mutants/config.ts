import type { Mutant } from '../mutant.ts';

export const config: readonly Mutant[] = [
  { id: 'config/drain-order', file: 'config/resolve-config.ts', find: 'parent > drain ||', replace: 'parent >= drain ||' },
  { id: 'config/boolean-upper', file: 'config/value.ts', find: "'FALSE',", replace: '' },
  { id: 'config/role-value', file: 'config/flag-layer.ts', find: '!mayBeValue || roles', replace: 'roles' },
  {
    id: 'config/drain-cap-default',
    file: 'config/resolve-config.ts',
    find: 'fields.terminationDrainDuration',
    replace: 'fields.drainDuration',
  },
  {
    id: 'config/layer-order',
    file: 'config/resolve-config.ts',
    find: '({ ...lower, ...reading.fields })',
    replace: '({ ...reading.fields, ...lower })',
  },
  { id: 'config/usage-problem', file: 'config/resolve-config.ts', find: 'problems.every(', replace: 'problems.some(' },
  { id: 'config/mutual-port', file: 'config/resolve-config.ts', find: '&& !fileMountedCerts', replace: '' },
  {
    id: 'config/probe-standard-timeout',
    file: 'config/app-probes.ts',
    find: 'standardTimeout = 1_000',
    replace: 'standardTimeout = 10_000',
  },
  {
    id: 'config/probe-secure',
    file: 'config/app-probes.ts',
    find: 'secure: /https/i.test(scheme)',
    replace: 'secure: /http/i.test(scheme)',
  },
  { id: 'config/target-twice', file: 'config/metrics-targets.ts', find: '&& other.path === target.path', replace: '' },
  { id: 'config/port-most', file: 'config/value.ts', find: 'port: whole(1, 65_535', replace: 'port: whole(0, 65_535' },
  { id: 'config/connect-timeout-most', file: 'config/value.ts', find: '1, 30_000)', replace: '1, 300_000)' },
  { id: 'config/address-port', file: 'config/host-port.ts', find: 'port <= 65_535', replace: 'port <= 99_999' },
  { id: 'config/pushed-watched', file: 'config/certificate-files.ts', find: 'watched: paths(services)', replace: 'watched: paths(own)' },
  {
    id: 'config/further-replaced',
    file: 'config/resolve-config.ts',
    find: '({ ...without(lower, reading.fields), ...reading.further })',
    replace: '({ ...lower, ...reading.further })',
  },
  { id: 'config/further-secret', file: 'config/passed-on.ts', find: '!isSecretName(name) &&', replace: '' },
  { id: 'config/further-depth', file: 'config/passed-on.ts', find: 'level > deepest', replace: 'level > deepest + 1' },
  { id: 'config/idle-usual', file: 'config/idle-variables.ts', find: 'sense(text) === sense(usual)', replace: 'text === usual' },
  { id: 'config/istiod-default', file: 'config/environment.ts', find: 'given(values.pilotCertProvider) !== undefined', replace: 'false' },
  { id: 'config/idle-empty', file: 'config/idle-variables.ts', find: "text === '' ||", replace: '' },
];
