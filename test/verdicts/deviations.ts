/** A reason why pilot-discovery decides differently from Istio, and the cases that it explains. */
interface Deviation {
  readonly because: string;
  readonly cases: readonly string[];
}

export const deviations: readonly Deviation[] = [
  {
    because: 'nothing meets it, or it is not served: a policy with it is closed',
    cases: [
      'AuthorizationPolicy: a header with two brackets',
      'AuthorizationPolicy: a header with a space',
      'AuthorizationPolicy: a namespace of two expressions',
      'AuthorizationPolicy: port 0',
      'AuthorizationPolicy: the metadata of a filter',
    ],
  },
  {
    because:
      'what restricts access and is wrong closes its port, and the rest of the resource is served',
    cases: [
      'Sidecar: ingress with TLS without a key',
      'Sidecar: ingress with mutual TLS without roots',
      'Sidecar: ingress with TLS of the mesh',
      'Sidecar: ingress with TLS that redirects',
    ],
  },
  {
    because: 'a field that nobody knows may restrict access, where that is what the block is for',
    cases: [
      'DestinationRule: a field that nobody knows below TLS',
      'Gateway: a field of TLS that nobody knows',
      'Gateway: a credential for roots',
      'PeerAuthentication: a field that nobody knows',
      'AuthorizationPolicy: a field that nobody knows',
      'AuthorizationPolicy: a field of a rule that nobody knows',
      'AuthorizationPolicy: custom with a field of the provider that nobody knows',
      'RequestAuthentication: a field that nobody knows',
      'RequestAuthentication: a field of a rule that nobody knows',
      'VirtualService: a field of TLS that nobody knows',
    ],
  },
  {
    because: 'Envoy refuses it, and with it the whole configuration',
    cases: [
      'AuthorizationPolicy: a header with a line break',
      'AuthorizationPolicy: a namespace that is a part of an expression',
      'AuthorizationPolicy: an account that is a part of an expression',
      'AuthorizationPolicy: a template without a slash',
      'DestinationRule: a hash by a header with a line break',
      'RequestAuthentication: a header with a line break',
      'RequestAuthentication: a prefix with a line break',
      'RequestAuthentication: a header for the payload with a line break',
      'Gateway: PASSTHROUGH with a hash',
      'Gateway: a hash of a certificate that is none',
      'Gateway: a hash of a key that is none',
      'Telemetry: an expression with a function that nobody knows',
      'Telemetry: an expression with a function of other languages',
      'Telemetry: an expression with a function without its argument',
      'Telemetry: an expression with a text of a number',
      'Telemetry: an expression with a loop',
      'Telemetry: an expression with a message',
      'Telemetry: an expression with a regular expression that is none',
      'VirtualService: a host twice in two spellings',
      'VirtualService: a path by no way',
      'VirtualService: a delay without a time',
      'VirtualService: an abort without a code',
      'VirtualService: a header with a name that is none',
      'VirtualService: TLS with a part of a name',
      'WorkloadEntry: a socket whose path has 108 bytes',
    ],
  },
  {
    because: 'it says whom a server lets in, or how, and nobody would be or more than is said',
    cases: [
      'Gateway: a cipher suite that nobody knows',
      'Gateway: an empty cipher suite',
      'Gateway: versions the wrong way round',
    ],
  },
  {
    because: 'no certificate is served that is named so, where istiod takes another beside it',
    cases: [
      'Gateway: PASSTHROUGH with several credentials',
      'Gateway: certificates and a credential',
    ],
  },
  {
    because: 'it can have no effect, so something else was meant',
    cases: [
      'DestinationRule: a hash by an empty header',
      'RequestAuthentication: a header with a space',
      'RequestAuthentication: a header for the payload with a space',
      'RequestAuthentication: an address without a host',
      'DestinationRule: a hash by no address',
      'DestinationRule: a hash by nothing',
      'DestinationRule: an empty name of a certificate',
      'DestinationRule: a policy of port 0',
      'DestinationRule: a policy of port 65536',
      'VirtualService: a delegate with an empty name',
    ],
  },
  {
    because: 'it is for WorkloadEntries, and Istio refuses a WorkloadEntry with it',
    cases: [
      'WorkloadGroup: a label of the template that is none',
      'WorkloadGroup: a value of a label of the template that is none',
      'WorkloadGroup: an address in the template that is none',
    ],
  },
  {
    because: "it is in Istio's schema, and agents have it; only the webhook of 1.26 lacks it",
    cases: ['WorkloadGroup: a probe of gRPC'],
  },
  {
    because: 'it is clear what is meant, and istiod itself takes it from a file',
    cases: [
      'Gateway: a port as a text',
      'ServiceEntry: a number as a text',
      'WorkloadGroup: a port of the template that is a text',
      'VirtualService: a match that is null',
    ],
  },
  {
    because: 'it is clear what is meant: spaces are taken out, and 0 is no time-out, as in Envoy',
    cases: ['VirtualService: causes of a retry with spaces', 'VirtualService: a time-out of 0'],
  },
];
