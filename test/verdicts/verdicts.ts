/** The reason of a refusal, which is empty if the resource is accepted; and the warnings. */
export interface Verdict {
  readonly refused: string;
  readonly warnings: readonly string[];
}

/** The verdict of Istio's webhook, and that of a Kubernetes API by Istio's schema. */
export interface IstioVerdict {
  readonly istiod: Verdict;
  /** The reason of a refusal; empty if the resource is accepted. */
  readonly schema: string;
}

/** The verdicts by the keys of the cases. */
export type Verdicts = Readonly<Record<string, IstioVerdict>>;

/** Whether Istio refuses a resource: its webhook refuses it, or it does not fit Istio's schema. */
export const isRefused = ({ istiod, schema }: IstioVerdict): boolean =>
  istiod.refused !== '' || schema !== '';
