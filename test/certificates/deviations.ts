/** The way by which Envoy gets files: it reads them when it starts, or SDS pushes them. */
export type Way = 'restart' | 'push';

/** A verdict of the agent that differs from Envoy's, and the reason. */
interface Deviation {
  readonly kind: string;
  readonly ways: readonly Way[];
  readonly because: string;
}

const onlyEnvoy =
  'Node’s parser takes it, and Envoy’s does not: what Envoy says decides, by `--mode validate` or by its NACK';
const password = 'the configuration may have its password: what `--mode validate` says decides';

/** All deviations. Any other difference is a fault. */
export const deviations: readonly Deviation[] = [
  {
    kind: '101 certificates',
    ways: ['push'],
    because: 'each is parsed for its dates: the limit of what is pushed is 100',
  },
  {
    kind: 'an expired leaf',
    ways: ['restart', 'push'],
    because: 'Envoy takes it, and no client would',
  },
  {
    kind: 'a leaf of tomorrow',
    ways: ['restart', 'push'],
    because: 'Envoy takes it, and no client would yet',
  },
  { kind: 'version 1 with extensions', ways: ['restart', 'push'], because: onlyEnvoy },
  { kind: 'encrypted PKCS#8', ways: ['restart'], because: password },
  { kind: 'encrypted PKCS#1', ways: ['restart'], because: password },
  { kind: 'encrypted SEC 1', ways: ['restart'], because: password },
];
