import { seeded } from '../chaos/seeded.ts';

/** The hosts behind the sidecar and the gateway that edits change, by their first label. */
const names = ['a', 'b'] as const;
type Name = (typeof names)[number];

/** What a VirtualService does with the requests of a host, and their status then. */
const actions = { forward: 200, answer: 418, fault: 429 } as const;
type Action = keyof typeof actions;

interface HostState {
  /** Whether `exportTo` of its service has the namespace of the client. */
  readonly exported: boolean;
  /** Whether `egress` of the client's Sidecar has it. */
  readonly imported: boolean;
  readonly inMesh: Action;
  /** Whether a server of the Gateway has it. */
  readonly served: boolean;
  readonly atGateway: Action;
  /** Whether an AuthorizationPolicy of the gateway denies it. */
  readonly denied: boolean;
}

/** All that the folder says at one moment. */
export interface MeshState {
  readonly hosts: Readonly<Record<Name, HostState>>;
  /** Whether an AuthorizationPolicy denies all requests to `echo.mesh`. */
  readonly echoDenied: boolean;
  readonly mtls: 'STRICT' | 'PERMISSIVE';
  /** Edits that change no answer. */
  readonly renamed: number;
  readonly labelled: number;
  readonly more: number;
  /** How often the gateway has got another certificate. */
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

/** A host, and the proxy through which clients ask for it. */
export type Target = `${'sidecar' | 'gateway' | 'HTTPS'} ${string}`;

/** The status of each target in a state. */
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

/** One edit of the folder: what it is, and the state after it. */
export interface Edit {
  readonly what: string;
  readonly after: MeshState;
}

/** What an edit may change: a target, and its status before and after. */
export interface Change {
  readonly target: Target;
  readonly before: number;
  readonly after: number;
}

/** Returns what differs between two states; nothing else may change. */
export function changesOf(before: MeshState, after: MeshState): readonly Change[] {
  const next = statuses(after);
  return [...statuses(before)].flatMap(([target, status]) => {
    const then = next.get(target) ?? 0;
    return then === status ? [] : [{ target, before: status, after: then }];
  });
}

/** How often each kind of edit comes, against the others. */
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

/** An endless row of edits, the same one for the same seed. */
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
    // Most edits of a host that another edit hides would change no answer.
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
