import { create, toBinary } from '@bufbuild/protobuf';
import type { ResourceKey } from '../../istio/documents/model.ts';
import { VirtualHostSchema } from '../../../shared/proto/envoy/config/route/v3/route_components_pb.ts';
import type { Init } from '../encoding/typed-config.ts';

/** An encoded virtual host. */
export interface VirtualHost {
  readonly name: string;
  readonly body: Uint8Array;
  readonly keys: readonly ResourceKey[];
}

type Body = Init<typeof VirtualHostSchema>;

/** Returns the bytes of a virtual host, whose requests have the number of attempts in a header. */
export const encodedVirtualHost = (
  name: string,
  domains: readonly string[],
  routes: NonNullable<Body['routes']>,
  more: Pick<Body, 'requireTls' | 'includeRequestAttemptCount'> = {},
): Uint8Array =>
  toBinary(
    VirtualHostSchema,
    create(VirtualHostSchema, {
      name,
      domains: [...domains],
      routes,
      includeRequestAttemptCount: true,
      ...more,
    }),
  );
