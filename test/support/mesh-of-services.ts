/** The number of services in one text; the limits of a YAML text allow few more. */
const servicesPerText = 50;

/**
 * Returns a mesh of `count` services in ten namespaces, as texts of YAML. Each service has a
 * workload at its own address, a subset, a route and a policy.
 */
export const meshOfServices = (count: number): readonly string[] =>
  Array.from({ length: Math.ceil(count / servicesPerText) }, (_, text) =>
    Array.from({ length: Math.min(servicesPerText, count - text * servicesPerText) }, (_, index) =>
      service(text * servicesPerText + index),
    ).join(''),
  );

const service = (number: number): string => {
  const namespace = `ns${number % 10}`;
  const head = (kind: string, group = 'networking') =>
    `apiVersion: ${group}.istio.io/v1\nkind: ${kind}\nmetadata: { name: s${number}, namespace: ${namespace} }\n`;
  const address = `${number >> 8}.${number & 255}`;
  return `${head('ServiceEntry')}spec:
  hosts: [s${number}.mesh]
  location: MESH_INTERNAL
  resolution: STATIC
  addresses: [240.0.${address}]
  ports: [{ number: 80, name: tcp, protocol: TCP }, { number: 90, name: http, protocol: HTTP }]
  workloadSelector: { labels: { app: s${number} } }
---
${head('WorkloadEntry')}spec: { address: 10.1.${address}, labels: { app: s${number}, version: v1 } }
---
${head('DestinationRule')}spec: { host: s${number}.mesh, subsets: [{ name: v1, labels: { version: v1 } }] }
---
${head('VirtualService')}spec: { hosts: [s${number}.mesh], http: [{ route: [{ destination: { host: s${number}.mesh, subset: v1, port: { number: 90 } } }] }] }
---
${head('AuthorizationPolicy', 'security')}spec: { selector: { matchLabels: { app: s${number} } }, rules: [{ from: [{ source: { namespaces: [${namespace}] } }] }] }
---
`;
};
