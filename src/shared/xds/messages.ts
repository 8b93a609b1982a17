import { create } from '@bufbuild/protobuf';
import {
  type DeltaDiscoveryRequest,
  DeltaDiscoveryRequestSchema,
  type DeltaDiscoveryResponse,
  DeltaDiscoveryResponseSchema,
  type DiscoveryRequest,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
  DiscoveryResponseSchema,
  type Node,
  type Resource,
} from '../proto/envoy/service/discovery/v3/discovery_pb.ts';
import { mainTypes, namedResource, type Update, wildcard } from './resources.ts';

/** The two variants of the protocol: an Envoy chooses one. */
export type Variant = 'state-of-the-world' | 'delta';

/** Why an answer is refused (google.rpc.Status). */
export interface ErrorDetail {
  readonly code: number;
  readonly message: string;
}

/** A request of Envoy, of either variant. */
export interface EnvoyRequest {
  /** Only the first one of a stream has to say it. */
  readonly node: Node | undefined;
  readonly typeUrl: string;
  /** The answer that it answers; empty where it answers none. */
  readonly nonce: string;
  readonly refusal: ErrorDetail | undefined;
  /**
   * All names that are wanted from now on, and the version that Envoy has; or names that come and
   * go, with the versions of what Envoy has already.
   */
  readonly names:
    | { readonly kind: 'all'; readonly names: readonly string[]; readonly version: string }
    | {
        readonly kind: 'change';
        readonly add: readonly string[];
        readonly remove: readonly string[];
        readonly versions: Readonly<Record<string, string>>;
      };
}

/** Envoy cuts its reasons at so many characters; what is longer is not from Envoy. */
const longestReason = 4_096;

/** What a request of either variant says. Pure. */
export function readRequest(request: DiscoveryRequest | DeltaDiscoveryRequest): EnvoyRequest {
  const { node, typeUrl, responseNonce: nonce, errorDetail } = request;
  const refusal = errorDetail && {
    code: errorDetail.code,
    message: errorDetail.message.slice(0, longestReason),
  };
  return {
    ...{ node, typeUrl, nonce, refusal },
    names:
      request.$typeName === 'envoy.service.discovery.v3.DiscoveryRequest'
        ? { kind: 'all', names: request.resourceNames, version: request.versionInfo }
        : {
            kind: 'change',
            add: request.resourceNamesSubscribe,
            remove: request.resourceNamesUnsubscribe,
            versions: request.initialResourceVersions,
          },
  };
}

/** What Envoy is given: what it does not have yet, or, of a whole type, all of it. */
export interface Push {
  readonly typeUrl: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly Resource[];
  readonly removed: readonly string[];
  readonly controlPlane: string;
}

/** A push as an answer of one variant. Pure. */
export function pushMessage(
  variant: Variant,
  push: Push,
): DiscoveryResponse | DeltaDiscoveryResponse {
  const { typeUrl, version, nonce, resources, removed } = push;
  const controlPlane = { identifier: push.controlPlane };
  if (variant === 'delta') {
    const message = {
      typeUrl,
      nonce,
      systemVersionInfo: version,
      removedResources: [...removed],
      controlPlane,
    };
    return create(DeltaDiscoveryResponseSchema, { ...message, resources: [...resources] });
  }
  const bodies = resources.flatMap(({ resource }) => resource ?? []);
  return create(DiscoveryResponseSchema, {
    typeUrl,
    nonce,
    versionInfo: version,
    resources: bodies,
    controlPlane,
  });
}

/** What the control plane is asked for or told, of either variant. */
export interface Ask {
  readonly typeUrl: string;
  /** Of the answer that is answered; empty for the first request of a type. */
  readonly nonce: string;
  /** Of what is in force. */
  readonly version: string;
  readonly refusal: ErrorDetail | undefined;
  /** All names, for state of the world; the difference, for delta. */
  readonly names: ReadonlySet<string>;
  readonly add: readonly string[];
  readonly remove: readonly string[];
  /** Of what is known already, by name. */
  readonly versions: Readonly<Record<string, string>>;
}

/** A request to the control plane; `node` is in the first one of a stream. Pure. */
export function askMessage(
  variant: Variant,
  ask: Ask,
  node: Node | undefined,
): DiscoveryRequest | DeltaDiscoveryRequest {
  const { typeUrl, nonce, version, refusal, names, add, remove, versions } = ask;
  const common = {
    typeUrl,
    responseNonce: nonce,
    ...(node && { node }),
    ...(refusal && { errorDetail: { ...refusal } }),
  };
  if (variant === 'delta') {
    return create(DeltaDiscoveryRequestSchema, {
      ...common,
      resourceNamesSubscribe: unlessAll(add),
      resourceNamesUnsubscribe: [...remove],
      initialResourceVersions: { ...versions },
    });
  }
  return create(DiscoveryRequestSchema, {
    ...common,
    versionInfo: version,
    resourceNames: unlessAll([...names]),
  });
}

/** All resources of a type are asked for by no name, which each control plane understands. */
function unlessAll(names: readonly string[]): string[] {
  return names.length === 1 && names[0] === wildcard ? [] : [...names];
}

/**
 * What an answer of the control plane says. Throws where it cannot be read.
 *
 * A state-of-the-world answer has all clusters or all listeners. Of other types it may have a part.
 */
export function readResponse(response: DiscoveryResponse | DeltaDiscoveryResponse): Update {
  const { typeUrl, nonce } = response;
  const controlPlane = response.controlPlane?.identifier ?? '';
  if (response.$typeName === 'envoy.service.discovery.v3.DeltaDiscoveryResponse') {
    const { resources, removedResources: removed, systemVersionInfo: version } = response;
    return { typeUrl, nonce, version, resources, removed, isWhole: false, controlPlane };
  }
  const isWhole = mainTypes.includes(typeUrl);
  const resources = response.resources.map(namedResource);
  return {
    typeUrl,
    nonce,
    version: response.versionInfo,
    resources,
    removed: [],
    isWhole,
    controlPlane,
  };
}
