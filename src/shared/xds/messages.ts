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

/** The two variants of the protocol. Each Envoy uses one. */
export type Variant = 'state-of-the-world' | 'delta';

/** Why a client NACKs an answer (google.rpc.Status). */
export interface ErrorDetail {
  readonly code: number;
  readonly message: string;
}

/** A request of Envoy, of either variant. */
export interface EnvoyRequest {
  /** Only the first request of a stream must have it. */
  readonly node: Node | undefined;
  readonly typeUrl: string;
  /** The nonce of the answer that it ACKs or NACKs; empty if it does neither. */
  readonly nonce: string;
  readonly refusal: ErrorDetail | undefined;
  /**
   * Either all names that Envoy wants, and the version that it has; or names to subscribe and to
   * unsubscribe, with the versions of the resources that Envoy already has.
   */
  readonly names:
    | {
        readonly kind: 'all';
        readonly names: readonly string[];
        readonly version: string;
        /** Equal for equal names. If it is given, the names are decoded only when they are read. */
        readonly digest?: string;
      }
    | {
        readonly kind: 'change';
        readonly add: readonly string[];
        readonly remove: readonly string[];
        readonly versions: Readonly<Record<string, string>>;
      };
}

/** Envoy cuts its reasons at 4,096 characters; a longer one is not from Envoy. */
const longestReason = 4_096;

/** Reads a request of either variant. Pure. */
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

/** An answer to Envoy: the changes that it does not have yet, or all resources of a type. */
export interface Push {
  readonly typeUrl: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly Resource[];
  readonly removed: readonly string[];
  readonly controlPlane: string;
}

/** Returns a push as an answer of one variant. Pure. */
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

/** A request to the control plane, of either variant. */
export interface Ask {
  readonly typeUrl: string;
  /** The nonce of the answer that it ACKs or NACKs; empty for the first request of a type. */
  readonly nonce: string;
  /** The newest version that Envoy has ACKed. */
  readonly version: string;
  readonly refusal: ErrorDetail | undefined;
  /** All names. Only state of the world sends them. */
  readonly names: ReadonlySet<string>;
  /** The added names. Only delta sends them. */
  readonly add: readonly string[];
  /** The removed names. Only delta sends them. */
  readonly remove: readonly string[];
  /** The versions of the resources that the sender already has, by name. Only delta sends them. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Returns a request to the control plane. The first one of a stream has `node`. Pure. */
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

/**
 * Requests all resources of a type with an empty list of names, which every control plane supports.
 */
function unlessAll(names: readonly string[]): string[] {
  return names.length === 1 && names[0] === wildcard ? [] : [...names];
}

/**
 * Reads an answer of the control plane. Throws if it cannot be read.
 *
 * A state-of-the-world answer has all clusters or all listeners. For other types it may have only
 * some resources.
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
