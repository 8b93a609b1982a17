import type * as Grpc from '@grpc/grpc-js';
import { Observable } from 'rxjs';
import type { Variant } from '../../shared/xds/messages.ts';
import { adsDefinition } from './ads-definition.ts';
import type { Call } from './first-request.ts';

/**
 * Adds aggregated discovery (ADS, both variants) to a gRPC server on subscription, and emits each
 * stream. Cold, for one subscriber; never completes, never errors.
 */
export function adsCalls(server: Grpc.Server): Observable<readonly [Variant, Call]> {
  return new Observable((subscriber) => {
    const called = (variant: Variant) => (call: Call) => subscriber.next([variant, call]);
    server.addService(adsDefinition(), {
      streamAggregatedResources: called('state-of-the-world'),
      deltaAggregatedResources: called('delta'),
    });
  });
}
