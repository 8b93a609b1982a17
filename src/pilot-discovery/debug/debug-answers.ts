import { configDump, printed } from '../generate/config-dump.ts';
import type { ProxyNode } from '../generate/scope/proxy-node.ts';
import { sidecarOf } from '../generate/scope/sidecar-of.ts';
import {
  type ConnectionState,
  type ConnectionStates,
  syncStatus,
  type TypeState,
} from '../push/connection-states.ts';
import { isConfigClient } from '../push/config-view.ts';
import { unsentText } from '../push/unsent.ts';
import { typeUrls, type View, type XdsType, xdsTypes } from '../push/view.ts';
import { duplicateHosts } from '../environment/duplicate-hosts.ts';
import type { Environment } from '../environment/environment.ts';
import { eachResource } from '../environment/resources.ts';
import { flawsOf } from '../environment/store-flaws.ts';
import { noNetworks } from '../istio/mesh/mesh-networks.ts';
import { keyOf } from '../istio/documents/model.ts';
import type { DiscoveryView } from '../state/discovery-view.ts';
import { leftOut, withoutEndpoints } from '../state/push-status.ts';
import { registryConflicts } from '../state/registry-conflicts.ts';
import { ownMember } from '../../shared/text/own-member.ts';

/** Returns the answer to `/debug/NAME`, in the form of istiod. Pure. `now`: ms since 1970. */
type DebugAnswer = (view: DiscoveryView, now: number) => unknown;

/** Returns the name of a proxy as istiod writes it: `app-0.default`. */
export function proxyNameOf({ node }: ConnectionState): string {
  return node.id.split('~')[2] ?? node.id;
}

function textOf({ node }: ConnectionState, key: string): string {
  const value = ownMember(node.metadata as Readonly<Record<string, unknown>> | undefined, key);
  return typeof value === 'string' ? value : '';
}

const byType = <T>(answerOf: (type: XdsType) => T) =>
  Object.fromEntries(xdsTypes.map((type) => [type, answerOf(type)]));

/** Returns why no further resources of a type are sent to a proxy now. */
function unsentOf({ types }: ConnectionState, type: XdsType): string {
  const state = types.get(typeUrls[type]);
  return state === undefined ? 'not subscribed' : reasonOf(state);
}

const reasonOf = ({ waitsFor }: TypeState): string =>
  waitsFor === undefined ? 'unchanged' : unsentText(waitsFor);

/**
 * Returns why no further resources are sent to a client now, by type. A client that is a control
 * plane has other types than a proxy.
 */
const unsentTypes = (state: ConnectionState): Readonly<Record<string, string>> =>
  isConfigClient(state.node)
    ? Object.fromEntries([...state.types].map(([typeUrl, type]) => [typeUrl, reasonOf(type)]))
    : byType((type) => unsentOf(state, type));

const syncz: DebugAnswer = ({ connections }, now) =>
  [...connections].map(([, state]) => {
    const noncesOf = (type: XdsType) => {
      const { sent, acked } = state.types.get(typeUrls[type]) ?? {};
      return { [`${type}_sent`]: sent?.nonce ?? '', [`${type}_acked`]: acked?.nonce ?? '' };
    };
    const resources = [...state.types].map(([typeUrl, type]) => {
      const { sent, acked, rejected } = type;
      const typeStatus = {
        sent: sent?.nonce ?? '',
        acked: acked?.nonce ?? '',
        ...(sent && {
          sentTime: new Date(sent.at).toISOString(),
          sentResources: sent.resources,
          snapshot: sent.snapshot,
        }),
        status: syncStatus(type, now),
        ...(rejected && { rejected: { reason: rejected.reason, names: rejected.names } }),
      };
      return [typeUrl, typeStatus] as const;
    });
    return {
      cluster_id: textOf(state, 'CLUSTER_ID'),
      proxy: proxyNameOf(state),
      proxy_type: state.node.id.split('~')[0] ?? '',
      istio_version: textOf(state, 'ISTIO_VERSION'),
      ...noncesOf('cluster'),
      ...noncesOf('listener'),
      ...noncesOf('route'),
      ...noncesOf('endpoint'),
      resources: Object.fromEntries(resources),
      unsent: unsentTypes(state),
    };
  });

const connections: DebugAnswer = ({ connections: states }) => ({
  totalClients: states.size,
  clients: [...states].map(([number, state]) => ({
    connectionId: `${proxyNameOf(state)}-${number}`,
    connectedAt: new Date(state.connectedAt).toISOString(),
    address: state.address,
  })),
});

const adsz: DebugAnswer = ({ connections: states }) => ({
  totalClients: states.size,
  clients: [...states].map(([number, state]) => ({
    connectionId: `${proxyNameOf(state)}-${number}`,
    connectedAt: new Date(state.connectedAt).toISOString(),
    address: state.address,
    variant: state.variant,
    metadata: state.node.metadata ?? {},
    watches: Object.fromEntries(
      [...state.types].map(([typeUrl, { names }]) => [typeUrl, [...names]]),
    ),
  })),
});

const configz: DebugAnswer = ({ store }) =>
  store === undefined
    ? []
    : [...eachResource(store.resources)].map(
        ([, { kind, namespace, name, labels, annotations, origin, spec }]) => ({
          kind,
          metadata: { name, namespace, labels, annotations },
          origin,
          spec,
        }),
      );

const flaws: DebugAnswer = ({ store, snapshot }) => [
  ...(store === undefined ? [] : flawsOf(store)),
  ...(snapshot === undefined ? [] : leftOut(snapshot.environment)),
];

const registryz: DebugAnswer = ({ snapshot }) =>
  [...(snapshot?.environment.services.values() ?? [])].flat();

const endpointz: DebugAnswer = ({ snapshot }) =>
  Object.fromEntries(
    [...(snapshot?.environment.endpoints ?? [])].map(([service, ports]) => [
      service,
      Object.fromEntries(ports),
    ]),
  );

const keys: DebugAnswer = ({ store }) => store?.fetchedKeys ?? {};

const mesh: DebugAnswer = ({ store }) => store?.mesh ?? {};

const networkz: DebugAnswer = ({ store }) => store?.networks ?? noNetworks;

const pushStatus: DebugAnswer = ({ snapshot }) =>
  snapshot === undefined
    ? {}
    : {
        pilot_eds_no_instances: withoutEndpoints(snapshot.environment),
        pilot_vservice_dup_domain: [...duplicateHosts(snapshot.environment.virtualServices)].map(
          ({ host, first, second }) => ({ host, used: keyOf(first), unused: keyOf(second) }),
        ),
        pilot_conflict_registries: registryConflicts(snapshot.environment),
      };

const timeOf = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString();

/** Counts the proxies to which no further resources of a type are sent now, by reason. */
function countUnsent(states: ConnectionStates, type: XdsType): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const [, state] of states) {
    if (isConfigClient(state.node)) continue;
    const reason = unsentOf(state, type);
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
}

const trace: DebugAnswer = ({ traces, connections: states }) =>
  traces.map(
    (
      { snapshot, class: what, keys, changed, changedAt, dueAt, builtAt, answered, accepted },
      age,
    ) => {
      const step = ({ number, lastAt, connection }: typeof answered) => {
        const state = connection === undefined ? undefined : states.get(connection);
        const ms = lastAt === undefined ? undefined : lastAt - changedAt;
        return {
          answers: number,
          lastAt: timeOf(lastAt),
          ms,
          slowest: state === undefined ? undefined : proxyNameOf(state),
        };
      };
      const times = {
        changedAt: timeOf(changedAt),
        windowMs: dueAt - changedAt,
        buildMs: builtAt - dueAt,
      };
      return {
        snapshot,
        class: what,
        changed,
        keys,
        ...times,
        answered: step(answered),
        accepted: step(accepted),
        ...(age === 0 && { unsent: byType((type) => countUnsent(states, type)) }),
      };
    },
  );

/** The answers, by path. */
export const debugAnswers: Readonly<Record<string, DebugAnswer>> = {
  '/debug/syncz': syncz,
  '/debug/adsz': adsz,
  '/debug/connections': connections,
  '/debug/configz': configz,
  '/debug/flawz': flaws,
  '/debug/registryz': registryz,
  '/debug/endpointz': endpointz,
  '/debug/keyz': keys,
  '/debug/mesh': mesh,
  '/debug/networkz': networkz,
  '/debug/push_status': pushStatus,
  '/debug/trace': trace,
};

/** A connected proxy, and the view that it may have now. */
export interface ProxyWithView {
  readonly environment: Environment;
  readonly node: ProxyNode;
  /** The node as the proxy reports it, without the labels and the locality of its workload. */
  readonly reported: ProxyNode;
  readonly view: View;
}

/** A connected proxy with its connection. */
export interface ConnectedProxy {
  readonly state: ConnectionState;
  readonly proxy: ProxyWithView;
}

/** The answers about all connected proxies, by path. Pure. */
export const connectedAnswers: Readonly<
  Record<string, (proxies: readonly ConnectedProxy[]) => unknown>
> = {
  '/debug/proxyz': (proxies) =>
    proxies.map(({ state: { node }, proxy: { reported, view } }) => ({
      id: node.id,
      locality: reported.locality,
      metadata: node.metadata ?? {},
      versions: byType((type) => view[type].version),
    })),
};

/** The answers to `/debug/NAME?proxyID=PROXY`, by path. Pure. */
export const proxyAnswers: Readonly<Record<string, (proxy: ProxyWithView) => unknown>> = {
  '/debug/config_dump': ({ view }) => configDump(view),
  '/debug/edsz': ({ view }) => printed(view, 'endpoint').map(({ json }) => json),
  '/debug/sidecarz': ({ environment, node }) => sidecarOf(environment, node) ?? {},
};
