/** What differs from istiod 1.26: where, by the text of a difference, and why. */
export const deviations: readonly (readonly [where: RegExp, why: string])[] = [
  [
    /^endpoint\/.*(?:lb_endpoints\/\{.*\} 1: nothing|load_balancing_weight\/value: 1, istiod: 2$)/,
    'An endpoint that a service has by two addresses, or by two entries, is there once: twice it would get twice the requests.',
  ],
  [
    /request_mirror_policies\/0\/runtime_fraction\/default_value\/(?:denominator: "MILLION", istiod: nothing|numerator: 500000, istiod: 50$)/,
    'mirrorPercent is said as a part of a million, as mirrorPercentage is: 500,000 of it are 50 %.',
  ],
  [
    /^cluster\/outbound\|80\|\|im-ext\.example\.com\/transport_socket\//,
    'A proxy with certificates of its own names a service outside of the mesh as any other proxy does, if a rule says ISTIO_MUTUAL.',
  ],
  [
    /^listener\/0\.0\.0\.0_9003\/filter_chains\/.*11\.0\.0\.0/,
    'A service with two ranges of addresses is answered in both, whatever its protocol; istiod leaves out the second.',
  ],
  [
    /^(?:listener\/[\d.]+_8888|route\/8888)[/:]/,
    'Of two entries that give one port of a host two protocols the older one counts; istiod makes a listener of each half.',
  ],
  [
    /^(?:listener\/0\.0\.0\.0|route\/)_?(?:3308|9002)[:/]/,
    'A service without addresses whose selector selects nobody has a listener for any address; with istiod it has none.',
  ],
  [
    /^route\/80\/virtual_hosts\/"e\.example\.com:80"/,
    'Of two entries of one host that are resolved differently one counts; istiod has a route to the other, whose cluster it lacks.',
  ],
  [
    /^cluster\/inbound\|80\|\|\/(?:circuit_breakers\/thresholds\/0\/max_connections\/value: 3,|typed_extension_protocol_options\/.*"max_requests_per_connection":\{"value":3\})/,
    'The inboundConnectionPool of a Sidecar without ingress counts, as its documentation says; istiod leaves it out.',
  ],
];

/** What istiod 1.26 does not answer alike each time that it starts. */
export const unsteady: readonly (readonly [where: RegExp, why: string])[] = [
  [
    /^route\/80\/virtual_hosts\/"m[12]\.example\.com:80"\/domains\/1: /,
    'Of an entry with two hosts and two addresses the first host has both addresses; with istiod now and then the second host has one of them.',
  ],
];
