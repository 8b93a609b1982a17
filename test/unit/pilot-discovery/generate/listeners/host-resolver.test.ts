import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import {
  hostResolver,
  serverNameResolver,
} from '../../../../../src/pilot-discovery/generate/listeners/host-resolver.ts';
import { visibleServices } from '../../../../../src/pilot-discovery/generate/scope/visible-services.ts';
import { FilterConfigSchema } from '../../../../../src/shared/proto/envoy/extensions/filters/network/sni_dynamic_forward_proxy/v3/sni_dynamic_forward_proxy_pb.ts';
import { environmentOf } from '../../../../support/generated.ts';
import { proxyIn, resourceText } from '../../../../support/golden.ts';

const dynamic = resourceText(
  'ServiceEntry',
  'd',
  "{ hosts: ['*.d.mesh'], resolution: DYNAMIC_DNS, ports: [{ number: 443, name: p, protocol: TLS, targetPort: 8443 }, { number: 444, name: q, protocol: TLS }] }",
);
const other = resourceText(
  'ServiceEntry',
  'o',
  '{ hosts: [o.mesh], resolution: DNS, ports: [{ number: 443, name: p, protocol: TLS }] }',
);
const node = proxyIn('');
const services = (...yaml: readonly string[]) =>
  visibleServices(environmentOf(yaml.join('---\n')), node);
const destination = (host: string, port = 443) => ({
  cluster: `outbound|${port}||${host}`,
  host,
  subset: '',
  port,
  weight: 0,
});

describe('the hosts of requests', () => {
  it('are resolved if a service has DYNAMIC_DNS', () => {
    expect(hostResolver(node, services(other, dynamic)).map(({ name }) => name)).toEqual([
      'envoy.filters.http.dynamic_forward_proxy',
    ]);
  });

  it('are not resolved if none has it', () => {
    expect(hostResolver(node, services(other))).toEqual([]);
  });
});

describe('the server names of connections', () => {
  it.each([
    [443, 8443],
    [444, 444],
  ])('are resolved for a destination with DYNAMIC_DNS: port %i, at port %i', (port, targetPort) => {
    const destinations = [destination('o.mesh'), destination('*.d.mesh', port)];
    const [filter] = serverNameResolver(node, services(other, dynamic), destinations);
    if (filter === undefined) throw new Error('there is no filter');
    expect(anyUnpack(filter.configType.value, FilterConfigSchema)).toMatchObject({
      dnsCacheConfig: { name: 'dynamic_dns' },
      portSpecifier: { value: targetPort },
    });
  });

  it('are not resolved for other destinations', () => {
    const all = services(other, dynamic);
    expect(serverNameResolver(node, all, [destination('o.mesh')])).toEqual([]);
    expect(serverNameResolver(node, all, [destination('unknown.mesh')])).toEqual([]);
  });
});
