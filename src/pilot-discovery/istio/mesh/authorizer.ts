/** An authorizer with the name that policies use; `closed` if its configuration is wrong. */
export interface NamedAuthorizer {
  readonly name: string;
  readonly authorizer: Authorizer | 'closed';
}

/** A service that is asked whether a request or a connection gets through. */
export interface Authorizer {
  /** Only `grpc` can decide on TCP connections. */
  readonly protocol: HttpChecks | { readonly type: 'grpc' };
  /** The namespace of the service; '' if only one namespace may have its host. */
  readonly namespace: string;
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
  /** The decision on a request if there is no answer. */
  readonly withoutAnswer: 'refused' | 'let-through';
  /** The status of a request that is refused without an answer; undefined for 403. */
  readonly statusWithoutAnswer: number | undefined;
  /** The part of the body that it receives; undefined for nothing. */
  readonly body: ShownBody | undefined;
  /** Whether the route is chosen again: it may depend on headers that the answer adds. */
  readonly routes: 'kept' | 'chosen-again';
}

/** The headers that an authorizer receives by HTTP, and the headers of its answer that are used. */
export interface HttpChecks {
  readonly type: 'http';
  /** It comes before the path of the request. */
  readonly pathPrefix: string;
  /** Headers that it receives besides method, path and host. */
  readonly shownHeaders: readonly string[];
  readonly addedHeaders: readonly (readonly [name: string, value: string])[];
  readonly toUpstream: readonly string[];
  readonly toDownstreamIfDenied: readonly string[];
  readonly toDownstreamIfAllowed: readonly string[];
}

interface ShownBody {
  readonly maxBytes: number;
  /** For a longer body: `part` sends its beginning, `whole` refuses it with 413. */
  readonly longer: 'part' | 'whole';
  readonly as: 'text' | 'bytes';
}
