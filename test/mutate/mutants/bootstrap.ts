import type { Mutant } from '../mutant.ts';

export const bootstrap: readonly Mutant[] = [
  { id: 'bootstrap/inclusion-needed', file: 'bootstrap/stats.ts', find: '...neededSuffixes])]', replace: '])]' },
  { id: 'bootstrap/inclusion-flawed', file: 'bootstrap/stats.ts', find: 'return flaw === undefined;', replace: 'return true;' },
  { id: 'bootstrap/port-clash', file: 'bootstrap/static-resources.ts', find: 'port > 0 && taken === port', replace: 'taken === port' },
  {
    id: 'bootstrap/xds-sni',
    file: 'bootstrap/clusters.ts',
    find: 'isIpAddress(address.address) ? undefined :',
    replace: "isIpAddress(address.address) ? '' :",
  },
  { id: 'bootstrap/xds-pushed', file: 'bootstrap/clusters.ts', find: 'sds?.isPushed === true', replace: 'sds !== undefined' },
  { id: 'bootstrap/fastest-refresh', file: 'bootstrap/clusters.ts', find: 'fastestRefresh = 2', replace: 'fastestRefresh = 1' },
  { id: 'bootstrap/template-trim', file: 'bootstrap/template.ts', find: 'trims = right;', replace: '' },
  { id: 'bootstrap/template-comment', file: 'bootstrap/template.ts', find: "code.indexOf('*/', 2) === code.length - 2", replace: 'false' },
  { id: 'bootstrap/template-longest', file: 'bootstrap/template.ts', find: 'if (text.length > longest)', replace: 'if (false)' },
  {
    id: 'bootstrap/metadata-labels',
    file: 'bootstrap/node-metadata.ts',
    find: '...toldLabels, ...labels',
    replace: '...labels, ...toldLabels',
  },
  { id: 'bootstrap/metadata-addresses', file: 'bootstrap/node-metadata.ts', find: '[...new Set(addresses)]', replace: '[...addresses]' },
  { id: 'bootstrap/regex-repeats', file: 'bootstrap/regex-flaw.ts', find: 'last.repeats * times,', replace: 'times,' },
  { id: 'bootstrap/regex-open', file: 'bootstrap/regex-flaw.ts', find: 'outer.length > 0 ?', replace: 'outer.length > 1 ?' },
  { id: 'bootstrap/metadata-secrets', file: 'bootstrap/environment-metadata.ts', find: '!secret.includes(name)', replace: 'true' },
  {
    id: 'bootstrap/told-effective',
    file: 'bootstrap/proxy-config-json.ts',
    find: 'overlaid(passedOn(config), own)',
    replace: 'overlaid(own, passedOn(config))',
  },
  { id: 'bootstrap/heap-two', file: 'bootstrap/overload.ts', find: 'left >= 2 * least', replace: 'left >= least' },
  {
    id: 'bootstrap/overload-probes',
    file: 'bootstrap/static-resources.ts',
    find: 'ignore_global_conn_limit: true',
    replace: 'ignore_global_conn_limit: false',
  },
  { id: 'bootstrap/delta', file: 'bootstrap/bootstrap.ts', find: "inputs.deltaXds ? 'DELTA_GRPC' : 'GRPC'", replace: "'GRPC'" },
  {
    id: 'bootstrap/istio-version',
    file: 'bootstrap/node-metadata.ts',
    find: "name !== 'ISTIO_VERSION' || value !== ''",
    replace: 'name !== value',
  },
];
