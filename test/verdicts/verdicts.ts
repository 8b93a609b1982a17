/** Why it is refused, empty if it is taken; and what it warns of. */
export interface Verdict {
  readonly refused: string;
  readonly warnings: readonly string[];
}

/** What Istio's webhook says, and what a Kubernetes API says by Istio's schema. */
export interface IstioVerdict {
  readonly istiod: Verdict;
  /** Empty if it is taken. */
  readonly schema: string;
}

/** By the keys of the cases. */
export type Verdicts = Readonly<Record<string, IstioVerdict>>;

/** Istio refuses what its webhook refuses, and what does not fit its schema. */
export const isRefused = ({ istiod, schema }: IstioVerdict): boolean =>
  istiod.refused !== '' || schema !== '';
