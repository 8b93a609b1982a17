import type { PlacedMutant } from '../mutant.ts';

export const bootstrap: readonly PlacedMutant[] = [
  {
    id: 'bootstrap/inclusion-needed',
    file: 'pilot-agent/bootstrap/stats.ts',
    find: '...neededSuffixes])]',
    replace: '])]',
  },
  {
    id: 'bootstrap/inclusion-flawed',
    file: 'pilot-agent/bootstrap/stats.ts',
    find: 'return flaw === undefined;',
    replace: 'return true;',
  },
  {
    id: 'bootstrap/port-clash',
    file: 'pilot-agent/bootstrap/static-resources.ts',
    find: 'port > 0 && otherPort === port',
    replace: 'otherPort === port',
  },
  {
    id: 'bootstrap/xds-sni',
    file: 'pilot-agent/bootstrap/clusters.ts',
    find: 'isIpAddress(host) ? undefined :',
    replace: "isIpAddress(host) ? '' :",
  },
  {
    id: 'bootstrap/xds-pushed',
    file: 'pilot-agent/bootstrap/clusters.ts',
    find: "sds?.delivery === 'pushed'",
    replace: 'sds !== undefined',
  },
  {
    id: 'bootstrap/fastest-refresh',
    file: 'pilot-agent/bootstrap/clusters.ts',
    find: 'fastestRefresh = 2',
    replace: 'fastestRefresh = 1',
  },
  {
    id: 'bootstrap/template-trim',
    file: 'pilot-agent/bootstrap/template.ts',
    find: 'trims = right;',
    replace: '',
  },
  {
    id: 'bootstrap/template-comment',
    file: 'pilot-agent/bootstrap/template.ts',
    find: "code.indexOf('*/', 2) === code.length - 2",
    replace: 'false',
  },
  {
    id: 'bootstrap/template-longest',
    file: 'pilot-agent/bootstrap/template.ts',
    find: 'if (text.length > longest)',
    replace: 'if (false)',
  },
  {
    id: 'bootstrap/metadata-labels',
    file: 'pilot-agent/bootstrap/node-metadata.ts',
    find: '...environmentLabels, ...labels',
    replace: '...labels, ...environmentLabels',
  },
  {
    id: 'bootstrap/metadata-addresses',
    file: 'pilot-agent/bootstrap/node-metadata.ts',
    find: '[...new Set(addresses)]',
    replace: '[...addresses]',
  },
  {
    id: 'bootstrap/regex-repeats',
    file: 'shared/text/regex-flaw.ts',
    find: 'last.repeats * times,',
    replace: 'times,',
  },
  {
    id: 'bootstrap/regex-open',
    file: 'shared/text/regex-flaw.ts',
    find: 'outer.length > 0 ?',
    replace: 'outer.length > 1 ?',
  },
  {
    id: 'bootstrap/metadata-secrets',
    file: 'pilot-agent/bootstrap/environment-metadata.ts',
    find: '!secret.includes(name)',
    replace: 'true',
  },
  {
    id: 'bootstrap/told-effective',
    file: 'pilot-agent/bootstrap/proxy-config-json.ts',
    find: 'overlaid(passedOn(config), used)',
    replace: 'overlaid(used, passedOn(config))',
    explained:
      'No member is in both: readLayer divides those that the agent knows from all others.',
  },
  {
    id: 'bootstrap/heap-two',
    file: 'pilot-agent/bootstrap/overload.ts',
    find: 'left >= 2 * least',
    replace: 'left >= least',
  },
  {
    id: 'bootstrap/overload-probes',
    file: 'pilot-agent/bootstrap/static-resources.ts',
    find: 'ignore_global_conn_limit: true',
    replace: 'ignore_global_conn_limit: false',
  },
  {
    id: 'bootstrap/delta',
    file: 'pilot-agent/bootstrap/envoy-bootstrap.ts',
    find: "inputs.deltaXds ? 'DELTA_GRPC' : 'GRPC'",
    replace: "'GRPC'",
  },
  {
    id: 'bootstrap/istio-version',
    file: 'pilot-agent/bootstrap/node-metadata.ts',
    find: "name !== 'ISTIO_VERSION' || value !== ''",
    replace: 'name !== value',
  },
];
