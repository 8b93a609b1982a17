// Why: docs/decisions/079-documents-of-others-are-skipped.md
import { isObject } from '../../../shared/text/is-object.ts';

/** Whether a version is of a group with Istio's rules. `install.istio.io` is not one. */
export const isOfIstio = (apiVersion: string): boolean =>
  /^(?:networking|security|telemetry|extensions)\.istio\.io\//.test(apiVersion);

/**
 * Describes a document that belongs to another program: to Kubernetes, to the Gateway API, to a
 * tool. Undefined for a document that may be a rule, even an incomplete one.
 */
export function foreignDocument(
  { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
  value: unknown,
): string | undefined {
  if (kind === '' && apiVersion === '') {
    const isForeign =
      isObject(value) && !Object.hasOwn(value, 'metadata') && !Object.hasOwn(value, 'spec');
    return isForeign ? 'it has neither apiVersion nor kind' : undefined;
  }
  if (kind === '' || apiVersion === '' || isOfIstio(apiVersion)) return undefined;
  const isGatewayApi = /^gateway\.networking\.(?:x-)?k8s\.io\//.test(apiVersion);
  return `${kind} (${apiVersion}) is ${isGatewayApi ? 'of the Gateway API, which is not served' : 'not a rule of Istio'}`;
}
