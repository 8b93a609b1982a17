import { seeded } from '../chaos/seeded.ts';

/** The hosts behind the sidecar and the gateway that edits change, by their first label. */
const names = ['a', 'b'] as const;
type Name = (typeof names)[number];

/** The actions of a VirtualService for requests of a host, and the status of each action. */
const actions = { forward: 200, answer: 418, fault: 429 } as const;
type Action = keyof typeof actions;

interface HostState {
  /** Whether `exportTo` of its service contains the namespace of the client. */
  readonly exported: boolean;
  /** Whether `egress` of the client's Sidecar contains it. */
  readonly imported: boolean;
  readonly inMesh: Action;
  /** Whether a server of the Gateway contains it. */
  readonly served: boolean;
  readonly atGateway: Action;
  /** Whether an AuthorizationPolicy of the gateway denies it. */
  readonly denied: boolean;
}

/** The content of the folder at one moment. */
export interface MeshState {
  readonly hosts: Readonly<Record<Name, HostState>>;
  /** Whether an AuthorizationPolicy denies all requests to `echo.mesh`. */
  readonly echoDenied: boolean;
  readonly mtls: 'STRICT' | 'PERMISSIVE';
  /** The numbers of edits that change no answer. */
  readonly renamed: number;
  readonly labelled: number;
  readonly more: number;
  /** How often the gateway got another certificate. */
  readonly rotated: number;
}

const plainHost: HostState = {
  exported: true,
  imported: true,
  inMesh: 'forward',
  served: true,
  atGateway: 'forward',
  denied: false,
};
export const firstState: MeshState = {
  hosts: { a: plainHost, b: plainHost },
  echoDenied: false,
  mtls: 'STRICT',
  renamed: 0,
  labelled: 0,
  more: 0,
  rotated: 0,
};

/** A host, and the proxy through which clients send it requests. */
export type Target = `${'sidecar' | 'gateway' | 'HTTPS'} ${string}`;

/** Returns the status of each target in a state. */
export function statuses({ hosts, echoDenied }: MeshState): ReadonlyMap<Target, number> {
  const echo = echoDenied ? 403 : 200;
  return new Map<Target, number>([
    ['sidecar steady.mesh', 200],
    ['gateway steady.example.com', 200],
    ['sidecar echo.mesh', echo],
    ['gateway echo.example.com', echo],
    ['HTTPS steady.example.com', 200],
    ['HTTPS echo.example.com', echo],
    ...names.map((name): [Target, number] => {
      const { exported, imported, inMesh } = hosts[name];
      return [`sidecar ${name}.mesh`, exported && imported ? actions[inMesh] : 502];
    }),
    ...names.map((name): [Target, number] => {
      const { served, atGateway, denied } = hosts[name];
      const answered = served ? actions[atGateway] : 404;
      return [`gateway ${name}.example.com`, denied ? 403 : answered];
    }),
  ]);
}

/** One edit of the folder: its description, and the state after it. */
export interface Edit {
  readonly what: string;
  readonly after: MeshState;
}

/** A change by an edit: a target, and its status before and after. */
export interface Change {
  readonly target: Target;
  readonly before: number;
  readonly after: number;
}

/** Returns the targets whose status differs between two states; no other status may change. */
export function changesOf(before: MeshState, after: MeshState): readonly Change[] {
  const next = statuses(after);
  return [...statuses(before)].flatMap(([target, status]) => {
    const then = next.get(target) ?? 0;
    return then === status ? [] : [{ target, before: status, after: then }];
  });
}

/** The weight of each kind of edit: how often it comes in relation to the others. */
const weights = {
  exportTo: 3,
  egress: 3,
  'VirtualService of the mesh': 3,
  'servers of the Gateway': 3,
  'VirtualService of the gateway': 3,
  'AuthorizationPolicy of the gateway': 2,
  'AuthorizationPolicy of echo': 1,
  PeerAuthentication: 1,
  'names of subsets': 1,
  'labels of a service': 1,
  'another service': 1,
  'certificate of the gateway': 2,
} as const;

type Kind = keyof typeof weights;

/** Yields edits without an end, the same ones for the same seed. */
export function* plan(seed: number): Generator<Edit, never> {
  const random = seeded(seed);
  const kinds = Object.entries(weights).flatMap(([kind, weight]) =>
    Array.from({ length: weight }, () => kind as Kind),
  );
  const oneOf = <T>(list: readonly [T, ...T[]]): T =>
    list[Math.floor(random() * list.length)] ?? list[0];
  const draw = (state: MeshState): Edit => {
    const kind = oneOf(kinds as [Kind, ...Kind[]]);
    const name = oneOf(names);
    const action = oneOf(Object.keys(actions) as [Action, ...Action[]]);
    const after = edited(state, kind, name, action);
    return { what: after.hosts === state.hosts ? kind : `${kind}: ${name}`, after };
  };
  let state = firstState;
  for (;;) {
    let edit = draw(state);
    // Without further draws, most edits of a host would be hidden by another edit, and change no
    // answer.
    for (let count = 0; count < redraws && isHidden(state, edit); count++) edit = draw(state);
    state = edit.after;
    yield edit;
  }
}

const redraws = 4;

const isHidden = (before: MeshState, { after }: Edit): boolean =>
  after.hosts !== before.hosts && changesOf(before, after).length === 0;

function edited(state: MeshState, kind: Kind, name: Name, action: Action): MeshState {
  const host = state.hosts[name];
  const withHost = (change: Partial<HostState>): MeshState => ({
    ...state,
    hosts: { ...state.hosts, [name]: { ...host, ...change } },
  });
  switch (kind) {
    case 'exportTo':
      return withHost({ exported: !host.exported });
    case 'egress':
      return withHost({ imported: !host.imported });
    case 'VirtualService of the mesh':
      return withHost({ inMesh: action });
    case 'servers of the Gateway':
      return withHost({ served: !host.served });
    case 'VirtualService of the gateway':
      return withHost({ atGateway: action });
    case 'AuthorizationPolicy of the gateway':
      return withHost({ denied: !host.denied });
    case 'AuthorizationPolicy of echo':
      return { ...state, echoDenied: !state.echoDenied };
    case 'PeerAuthentication':
      return { ...state, mtls: state.mtls === 'STRICT' ? 'PERMISSIVE' : 'STRICT' };
    case 'names of subsets':
      return { ...state, renamed: state.renamed + 1 };
    case 'labels of a service':
      return { ...state, labelled: state.labelled + 1 };
    case 'another service':
      return { ...state, more: state.more + 1 };
    case 'certificate of the gateway':
      return { ...state, rotated: state.rotated + 1 };
  }
}
