import {
  below,
  durationAbove0,
  type Get,
  maybe,
  members,
  percent,
  type ReadMember,
  refuseIfEmpty,
  text,
  whole,
  wrong,
} from '../fields/members.ts';
import type { Fault } from './virtual-service.ts';

/** Reads `percentage.value`, or the older `percent`; undefined if there is neither. */
export function share(get: Get): number | undefined {
  return get('percentage', maybe(percentage)) ?? get('percent', percent);
}

/** Reads a percentage. An empty message is 0, as in Istio: it is not an absent one. */
export const percentage: ReadMember<number> = (value, place) =>
  members(value, place, [], (get) => get('value', percent) ?? 0);

const grpcStatus =
  `OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED
  FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED`.split(
    /\s+/,
  );

/** Reads the `fault` of a route. */
export const fault: ReadMember<Fault> = (value, place) => {
  refuseIfEmpty(value, place, 'delay or abort');
  return members(value, place, [], (get) => ({
    delay: get(
      'delay',
      maybe((inner, delayPlace) =>
        members(inner, delayPlace, ['exponentialDelay'], (getDelay, has) => {
          const fixedDelayMs = getDelay('fixedDelay', durationAbove0);
          if (!has('fixedDelay'))
            wrong(below(delayPlace, 'fixedDelay'), 'it is missing: a duration of 1ms or more');
          return { fixedDelayMs: fixedDelayMs ?? 0, percentage: share(getDelay) };
        }),
      ),
    ),
    abort: get(
      'abort',
      maybe((inner, abortPlace) =>
        members(inner, abortPlace, ['http2Error'], (getAbort, has) => {
          const http = getAbort('httpStatus', whole(200, 599));
          const grpc = getAbort('grpcStatus', text);
          const number = grpcStatus.indexOf(grpc);
          if (has('httpStatus') === has('grpcStatus'))
            wrong(abortPlace, 'it needs exactly one of httpStatus, grpcStatus');
          if (grpc !== '' && number < 0)
            wrong(
              below(abortPlace, 'grpcStatus'),
              `'${grpc}' is not one of ${grpcStatus.join(', ')}`,
            );
          return {
            status: grpc === '' ? { http: http ?? 503 } : { grpc: number },
            percentage: share(getAbort),
          };
        }),
      ),
    ),
  }));
};
