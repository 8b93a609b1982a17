import { describe, expect, it } from 'vitest';
import { inboundRoutes } from '../../../../../src/pilot-discovery/generate/routes/inbound-routes.ts';
import { RouteConfigurationSchema } from '../../../../../src/shared/proto/envoy/config/route/v3/route_pb.ts';
import { canonical, messageYaml } from '../../../../support/golden.ts';

const served = { cluster: 'inbound|8080||', host: 'a.mesh', servicePort: 80 } as const;

const routes = (retries: string) => `
name: inbound|8080||
validate_clusters: false
virtual_hosts:
  - name: inbound|http|80
    domains: ["*"]
    routes:
      - name: default
        match: { prefix: / }
        decorator: { operation: a.mesh:80/* }
        route:
          cluster: inbound|8080||
          timeout: 0s
          max_stream_duration: { max_stream_duration: 0s, grpc_timeout_header_max: 0s }${retries}`;
const again = `
          retry_policy: { retry_on: reset-before-request, num_retries: 2 }`;

describe('the route to the application', () => {
  it.each([
    ['http', again],
    ['http2', again],
    ['auto', again],
    ['grpc', ''],
    ['grpc-web', ''],
  ] as const)('of %s', (protocol, retries) => {
    const configuration = inboundRoutes({ ...served, protocol });
    expect(messageYaml(RouteConfigurationSchema, configuration)).toBe(canonical(routes(retries)));
  });
});
