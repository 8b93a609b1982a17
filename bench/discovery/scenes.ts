/** The requests of a fleet to a control plane. */
export interface Scene {
  readonly services: number;
  readonly proxies: number;
  readonly variant: 'delta' | 'whole';
  /** The number of namespaces over which the proxies are spread. */
  readonly namespaces: number;
  /** The Sidecars beside the services. */
  readonly sidecars: 'none' | 'of each proxy, all hosts' | 'of each proxy' | 'of each namespace';
  /** The other work of the control plane during the measuring. */
  readonly beside: 'nothing' | 'slow readers' | 'storms';
}

/** The scene from which the others differ. */
export const plain: Scene = {
  services: 1_000,
  proxies: 100,
  variant: 'whole',
  namespaces: 1,
  sidecars: 'none',
  beside: 'nothing',
};

export const variants = ['delta', 'whole'] as const;

export const scenes: readonly Scene[] = [
  ...[100, 1_000].flatMap((services) =>
    [10, 100, 1_000].flatMap((proxies) =>
      variants.map((variant) => ({ ...plain, services, proxies, variant })),
    ),
  ),
  ...[10, 100].flatMap((namespaces) =>
    variants.map((variant) => ({ ...plain, variant, namespaces })),
  ),
  ...variants.map((variant) => ({ ...plain, variant, sidecars: 'of each proxy' as const })),
  { ...plain, sidecars: 'of each proxy, all hosts' },
  ...(['slow readers', 'storms'] as const).map((beside) => ({ ...plain, beside })),
  ...variants.map((variant) => ({
    ...plain,
    services: 10_000,
    proxies: 1_000,
    variant,
    namespaces: 100,
    sidecars: 'of each namespace' as const,
  })),
];

const sidecarNames: Readonly<Record<Scene['sidecars'], string>> = {
  none: '',
  'of each proxy, all hosts': '100 Sidecars of all hosts',
  'of each proxy': '100 Sidecars of 20 hosts',
  'of each namespace': '100 Sidecars of 20 hosts',
};

const besideNames: Readonly<Record<Scene['beside'], string>> = {
  nothing: '',
  'slow readers': 'beside 10 slow readers',
  storms: 'beside connect storms of 500',
};

export function nameOf(scene: Scene): string {
  const { services, proxies, variant, namespaces, sidecars, beside } = scene;
  return [
    `${services} × ${proxies}`,
    variant,
    namespaces > 1 ? `${namespaces} namespaces` : '',
    sidecarNames[sidecars],
    besideNames[beside],
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** Kinds of changes, by the type of xDS that answers them. */
export const kinds = { rds: 'a VirtualService', cds: 'a subset', eds: 'an endpoint' } as const;

/** Goals of the design, as ratios to istiod: until the last has it, CPU, bytes. */
export const goals: Readonly<Record<string, readonly number[]>> = {
  '1000 × 100, delta: connect': [0.4],
  '1000 × 100, delta: rds': [0.3, 0.25, 0.4],
  '1000 × 100, delta: cds': [0.3, 0.25, 0.01],
  '1000 × 100, delta: eds': [0.5, 0.25],
  '1000 × 100, whole: rds': [0.5],
  '1000 × 100, whole, 100 Sidecars of all hosts: rds': [1.2],
  ...Object.fromEntries(
    variants.flatMap((variant) => {
      const scene = `1000 × 100, ${variant}, 100 namespaces`;
      const sidecars = `1000 × 100, ${variant}, 100 Sidecars of 20 hosts`;
      return [
        [`${scene}: rds`, [0.4, 0.3]],
        [`${scene}: cds`, [0.5, 0.3]],
        [`${scene}: eds`, [0.4, 0.3]],
        [`${scene}: peak`, [0.5]],
        [`${sidecars}: rds`, [0.6]],
        [`${sidecars}: cds`, [0.6]],
        [`${sidecars}: eds`, [0.6]],
        [`100 × 1000, ${variant}: peak`, [0.3]],
        [`1000 × 1000, ${variant}: peak`, [0.3]],
      ];
    }),
  ),
};

/** The Sidecars of a scene as YAML, for the names that the fleet gives to its proxies. */
export function sidecarsOf({ services, proxies, namespaces, sidecars }: Scene): string {
  if (sidecars === 'none') return '';
  const count = sidecars === 'of each namespace' ? namespaces : proxies;
  return Array.from({ length: count }, (_, number) => {
    const hosts = sidecars === 'of each proxy, all hosts' ? ['*/*'] : hostsOf(number, services);
    const [name, selector] =
      sidecars === 'of each namespace'
        ? ['default', '']
        : [`p${number}`, `workloadSelector: { labels: { app: p${number} } }, `];
    return `apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: ${name}, namespace: ns${number % namespaces} }
spec: { ${selector}outboundTrafficPolicy: { mode: ALLOW_ANY }, egress: [{ hosts: [${hosts.map((host) => `'${host}'`).join(', ')}] }] }
`;
  }).join('---\n');
}

/** The service that the fleet changes, and nineteen others. */
function hostsOf(number: number, services: number): readonly string[] {
  const others = Array.from(
    { length: 19 },
    (_, index) => 2 + ((number * 19 + index) % (services - 1)),
  );
  return [1, ...others].map((service) => {
    const namespace = `ns${service === 1 ? 0 : service % 10}`;
    return `${namespace}/svc${service}.${namespace}.mesh`;
  });
}
