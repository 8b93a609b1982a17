import { asyncScheduler, mergeMap, type Observable, scan, type SchedulerLike } from 'rxjs';
import { unreachable } from '../../../operators/tagged-union.ts';
import type { FollowSign, FollowFailure } from '../../../shared/kube/follow-state.ts';
import { followObjects } from '../../../shared/kube/follow.ts';
import type { KubeApi } from '../../../shared/kube/kube-api.ts';
import type { KubeObject } from '../../../shared/kube/kube-object.ts';
import type { StoreEvent } from '../../environment/store-event.ts';
import { defaultMeshConfig, type MeshConfig } from '../../istio/mesh/mesh-config.ts';
import type { Flaw } from '../../istio/documents/model.ts';
import { placeOf } from '../../istio/documents/place-of.ts';
import { readMeshConfig } from '../../istio/mesh/read-mesh-config.ts';
import { type MeshNetworks, noNetworks } from '../../istio/mesh/mesh-networks.ts';
import { readMeshNetworks } from '../../istio/mesh/read-mesh-networks.ts';
import { ownMember } from '../../../shared/text/own-member.ts';
import { isObject } from '../../../shared/text/is-object.ts';

/** The name of this source: a mesh has one MeshConfig, from a file or from here. */
const source = 'mesh';
/** The name of the ConfigMap, and its keys with the MeshConfig and the MeshNetworks. */
const [mapName, key, networksKey] = ['istio', 'mesh', 'meshNetworks'];

interface MeshMapState {
  /** The last good MeshConfig; undefined if there was none yet. */
  readonly mesh: MeshConfig | undefined;
  /** Why the last MeshConfig is not that of the API; undefined if it is. */
  readonly problem: string | undefined;
  /** Whether the last event about flaws has any. */
  readonly flaws: 'none' | 'some';
  /** Why the ConfigMap could not be followed since it was read: each cause is reported once. */
  readonly causes: ReadonlySet<FollowFailure>;
}

type Step = readonly [MeshMapState, readonly StoreEvent[]];

/**
 * Emits the MeshConfig and the MeshNetworks in the ConfigMap `istio` of a namespace, then `synced`,
 * then each new version; the defaults if there is no such ConfigMap. If the ConfigMap is wrong,
 * cannot be read or is gone, the last ones stay and an event has the reason. It is not synced
 * before the MeshConfig has been read without a mistake.
 *
 * Cold; never completes, never errors.
 */
export function meshMapSource(
  api: KubeApi,
  namespace: string,
  {
    random = Math.random,
    scheduler = asyncScheduler,
  }: { readonly random?: () => number; readonly scheduler?: SchedulerLike } = {},
): Observable<StoreEvent> {
  const place = `ConfigMap/${namespace}/${mapName}`;
  return followObjects(
    api,
    { kind: 'ConfigMap', namespace, name: mapName },
    { random, scheduler },
  ).pipe(
    scan(([state]: Step, sign): Step => reduceMeshMap(state, sign, place), [nothingRead, []]),
    mergeMap(([, events]) => events),
  );
}

const nothingRead: MeshMapState = {
  mesh: undefined,
  problem: undefined,
  flaws: 'none',
  causes: new Set(),
};

function reduceMeshMap(state: MeshMapState, sign: FollowSign, place: string): Step {
  switch (sign.type) {
    case 'listed': {
      const [object] = sign.objects;
      return object === undefined ? withoutMap(state, place) : withMap(state, object, place);
    }
    case 'set':
      return withMap(state, sign.object, place);
    case 'removed':
      return withoutMap(state, place);
    case 'current':
      return [{ ...state, causes: nothingRead.causes }, [standing(state)]];
    case 'lost':
      return unfollowed(state, sign);
    default:
      return unreachable(sign);
  }
}

function unfollowed(
  state: MeshMapState,
  { cause, reason }: Extract<FollowSign, { readonly type: 'lost' }>,
): Step {
  const type = state.causes.has(cause) ? 'still-lost' : 'lost';
  return [{ ...state, causes: new Set(state.causes).add(cause) }, [{ type, source, reason }]];
}

/** Returns `synced` if the MeshConfig in use is that of the API, otherwise `lost`. */
const standing = ({ problem }: MeshMapState): StoreEvent =>
  problem === undefined ? { type: 'synced', source } : { type: 'lost', source, reason: problem };

/** Without a ConfigMap the defaults apply, unless there was one. */
function withoutMap({ mesh, flaws }: MeshMapState, place: string): Step {
  const problem = mesh === undefined ? undefined : `${place} is gone`;
  const state: MeshMapState = { ...nothingRead, mesh, problem };
  const events: readonly StoreEvent[] =
    mesh === undefined ? [{ type: 'mesh', mesh: defaultMeshConfig }] : [];
  return [
    state,
    [
      ...(flaws === 'none' ? [] : [{ type: 'flaws', source, flaws: [] } as const]),
      ...events,
      standing(state),
    ],
  ];
}

function withMap({ mesh: before }: MeshMapState, { data }: KubeObject, place: string): Step {
  const { mesh, networks, flaws } = settingsOf(data, place);
  const error = flaws.find(({ severity }) => severity === 'error');
  const isUsed = error === undefined;
  const problem =
    isUsed || before !== undefined
      ? undefined
      : `${placeOf(error.origin)}: ${error.field === '' ? '' : `${error.field}: `}${error.reason}`;
  const state: MeshMapState = {
    mesh: isUsed ? mesh : before,
    problem,
    flaws: flaws.length === 0 ? 'none' : 'some',
    causes: nothingRead.causes,
  };
  return [
    state,
    [
      { type: 'flaws', source, flaws },
      ...(isUsed
        ? ([
            { type: 'mesh', mesh },
            { type: 'networks', source, networks },
          ] as const)
        : []),
      standing(state),
    ],
  ];
}

function settingsOf(data: unknown, place: string) {
  const text = isObject(data) ? ownMember(data, key) : undefined;
  const flaw = (field: string, reason: string, severity: Flaw['severity']): Flaw => ({
    key: undefined,
    origin: { source, path: place, line: 0 },
    field,
    reason,
    severity,
  });
  if (typeof text !== 'string') {
    const reason = 'it is missing: it has to be the MeshConfig, as YAML';
    const missing = flaw(`data.${key}`, reason, 'error');
    return { mesh: defaultMeshConfig, networks: noNetworks, flaws: [missing] };
  }
  const { mesh, flaws, folders, servers } = readMeshConfig(text, place);
  const { networks, flaws: networkFlaws } = networksOf(data, place);
  const unread = 'they have no effect in a ConfigMap: name them in the file of --meshConfig';
  return {
    mesh,
    networks,
    flaws: [
      ...flaws,
      ...networkFlaws,
      ...(folders.length + servers.length > 0 ? [flaw('configSources', unread, 'warning')] : []),
    ],
  };
}

function networksOf(
  data: unknown,
  place: string,
): { readonly networks: MeshNetworks; readonly flaws: readonly Flaw[] } {
  const text = isObject(data) ? ownMember(data, networksKey) : undefined;
  return typeof text === 'string'
    ? readMeshNetworks(text, `${place} ${networksKey}`)
    : { networks: noNetworks, flaws: [] };
}
