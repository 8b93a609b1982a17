export type KubernetesGroup = 'core' | 'discovery.k8s.io';
/** The groups of resources, in short. */
export type Group = 'networking' | 'security' | 'telemetry' | KubernetesGroup;

/** The valid versions of each group: as an expression, and as a message names them. */
export const groupVersions: Readonly<
  Record<Group, { readonly right: RegExp; readonly text: string }>
> = {
  networking: {
    right: /^networking\.istio\.io\/v1(?:alpha3|beta1)?$/,
    text: 'networking.istio.io/v1, v1beta1 or v1alpha3',
  },
  security: {
    right: /^security\.istio\.io\/v1(?:alpha3|beta1)?$/,
    text: 'security.istio.io/v1, v1beta1 or v1alpha3',
  },
  telemetry: {
    right: /^telemetry\.istio\.io\/v1(?:alpha1)?$/,
    text: 'telemetry.istio.io/v1 or v1alpha1',
  },
  core: { right: /^v1$/, text: 'v1' },
  'discovery.k8s.io': { right: /^discovery\.k8s\.io\/v1$/, text: 'discovery.k8s.io/v1' },
};
