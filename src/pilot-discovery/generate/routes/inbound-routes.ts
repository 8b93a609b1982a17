import type { Protocol } from '../../istio/fields/values.ts';
import type { RouteConfigurationSchema } from '../../../shared/proto/envoy/config/route/v3/route_pb.ts';
import type { Init } from '../encoding/typed-config.ts';

/** Returns the one route of an inbound chain: all requests go to the application. */
export function inboundRoutes({
  cluster,
  host,
  servicePort,
  protocol,
}: {
  readonly cluster: string;
  readonly host: string;
  readonly servicePort: number;
  readonly protocol: Protocol;
}): Init<typeof RouteConfigurationSchema> {
  return {
    name: cluster,
    virtualHosts: [
      {
        name: `inbound|http|${servicePort}`,
        domains: ['*'],
        routes: [
          {
            name: 'default',
            match: { pathSpecifier: { case: 'prefix', value: '/' } },
            action: {
              case: 'route',
              value: {
                clusterSpecifier: { case: 'cluster', value: cluster },
                timeout: {},
                // A request is sent again if its connection was just being closed.
                ...(protocol !== 'grpc' &&
                  protocol !== 'grpc-web' && {
                    retryPolicy: { retryOn: 'reset-before-request', numRetries: 2 },
                  }),
                maxStreamDuration: { maxStreamDuration: {}, grpcTimeoutHeaderMax: {} },
              },
            },
            decorator: { operation: `${host}:${servicePort}/*` },
          },
        ],
      },
    ],
    validateClusters: false,
  };
}
