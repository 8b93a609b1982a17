import { ExpressionFilterSchema } from '../../../shared/proto/envoy/extensions/access_loggers/filters/cel/v3/cel_pb.ts';
import type { AccessLogFilterSchema } from '../../../shared/proto/envoy/config/accesslog/v3/accesslog_pb.ts';
import type { Environment } from '../../environment/environment.ts';
import { isLogProvider } from '../../istio/telemetry/extension-provider.ts';
import { keyOf, type Resource, type ResourceKey } from '../../istio/documents/model.ts';
import type { CallSide } from '../../istio/telemetry/telemetry.ts';
import { type Init, typedConfig } from '../encoding/typed-config.ts';
import { clusterOfProvider, clustersOfProviders } from '../scope/provider-cluster.ts';
import type { ProxyNode } from '../scope/proxy-node.ts';
import { partsOfTelemetries, telemetriesOf } from '../scope/telemetries-of.ts';
import { type AccessLog, meshLog, providerLog } from './access-log.ts';
import { loggingOf } from './logging-of.ts';
import { managerTracing, type ManagerTracing } from './tracing.ts';

type Filter = Init<typeof AccessLogFilterSchema>;

/** The reports of a proxy about the calls of one side. */
export interface Reporting {
  /** The logs of connection managers and TCP proxies. */
  readonly accessLog: AccessLog[];
  /** The logs of listeners: connections for which they have no chain. */
  readonly listenerLog: AccessLog[];
  /** The spans of connection managers. */
  readonly tracing: ManagerTracing;
  /** The Telemetry resources that configure these reports. */
  readonly resourceKeys: readonly ResourceKey[];
}

/** Returns what a proxy reports of the calls that it makes, or of those that it receives. */
export function reportingOf(environment: Environment, node: ProxyNode, side: CallSide): Reporting {
  const { mesh } = environment;
  const telemetries = telemetriesOf(environment, node);
  const logs = logsOf(environment, node, telemetries, side);
  return {
    accessLog: logs.map(({ log, filter }) => filtered(log, ...filter)),
    listenerLog:
      mesh.listenerLogs === 'off'
        ? []
        : logs.map(({ log, filter }) => filtered(log, noRoute, ...filter)),
    tracing: managerTracing(environment, node, telemetries, side),
    resourceKeys: telemetries.map(keyOf),
  };
}

/** Returns the inputs of reports. As long as they are equal, one by one, the reports are. */
export const partsOfReporting = (environment: Environment, node: ProxyNode): readonly unknown[] => [
  ...partsOfTelemetries(environment, node),
  ...clustersOfProviders(environment, node),
];

interface FilteredLog {
  readonly log: AccessLog;
  /** The list is empty if each call is logged. */
  readonly filter: readonly Filter[];
}

/** Returns the logs by name of the provider; the log of the MeshConfig if there is no provider. */
function logsOf(
  environment: Environment,
  node: ProxyNode,
  telemetries: readonly Resource<'Telemetry'>[],
  side: CallSide,
): readonly FilteredLog[] {
  const { mesh } = environment;
  const logging = loggingOf(mesh, telemetries, side);
  const providerLogs = mesh.providers
    .flatMap((provider) => {
      const setting = logging.get(provider.name.toLowerCase());
      if (setting === undefined || !isLogProvider(provider)) return [];
      const log = providerLog(mesh, provider, (service) =>
        clusterOfProvider(environment, node, service),
      );
      return log === undefined ? [] : [{ name: provider.name, log, setting }];
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  if (providerLogs.length > 0)
    return providerLogs
      .filter(({ setting }) => setting.logging === 'on')
      .map(({ log, setting: { filter } }) => ({ log, filter: filter === '' ? [] : [cel(filter)] }));
  const log = meshLog(mesh);
  return log === undefined ? [] : [{ log, filter: [] }];
}

const noRoute: Filter = {
  filterSpecifier: { case: 'responseFlagFilter', value: { flags: ['NR'] } },
};

const cel = (expression: string): Filter => ({
  filterSpecifier: {
    case: 'extensionFilter',
    value: typedConfig('envoy.access_loggers.extension_filters.cel', ExpressionFilterSchema, {
      expression,
    }),
  },
});

function filtered(log: AccessLog, ...filters: readonly Filter[]): AccessLog {
  const [first, ...others] = filters;
  if (first === undefined) return log;
  return {
    ...log,
    filter:
      others.length === 0
        ? first
        : { filterSpecifier: { case: 'andFilter', value: { filters: [...filters] } } },
  };
}
