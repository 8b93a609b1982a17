import type { Deviation } from './unexplained.ts';

/** The differences from istiod 1.26: a pattern for the text of a difference, and the reason. */
export const deviations: readonly Deviation[] = [
  [
    /\/authenticated\/principal_name\/safe_regex\/regex: "spiffe:\/\/\.\*\\\\\.a", istiod: "spiffe:\/\/\.\*\.a"$/,
    'A dot in a principal that begins with * is a dot; with istiod it is any character.',
  ],
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
    /^(?:cluster|endpoint)\/outbound\|80\|v1\|passed\.example\.com[:/]/,
    'A subset with a balancer of its own is balanced by it, if the whole is PASSTHROUGH; istiod sends its requests where they were going.',
  ],
  [
    /^route\/80\/virtual_hosts\/"some\.example\.com:80"\/routes\/1\/.*\/numerator: 5700, istiod: 5699$/,
    'A percentage of 0.57 is 5,700 parts of a million; istiod cuts 5,699.999 off.',
  ],
  [
    /^endpoint\/outbound\|8888\|\|dup\.example\.com\/endpoints\/0\//,
    'Ports of the entries of a host are joined by number; istiod joins them by name, and leaves out an entry whose port has another name.',
  ],
  [
    /\/providers\/origins-\d+\/local_jwks\/inline_string: "\{\\"keys\\":\[\{\\"kty\\":\\"EC\\",\\"kid\\":\\"nobody\\",.*, istiod: "\{\\n /,
    'If the keys of an issuer are not known, there is one of which nobody has the private half; istiod sends that of its own as well.',
  ],
  [
    /^(?:cluster|listener)\/.*\/transport_socket\/.*sds_config\/initial_fetch_timeout: "1s", istiod: nothing$/,
    'Envoy waits 1 s for a certificate that a rule names: 15 s, in which it accepts no other clusters, would hold up what comes next.',
  ],
  [
    /^listener\/.*\/filter_chains\/\[null,\{"prefix_ranges":.*\/metadata: \{.*virtual-service\/by-subnet.*, istiod: nothing$/,
    'A chain for destinationSubnets names its VirtualService, as other chains do.',
  ],
  [
    /^listener\/[\d.]+_8443\/filter_chains\/.*"server_names":\["d\.example\.com"\]/,
    'The destinationSubnets of a match of TLS are for that match; istiod has them for later ones too.',
  ],
];

/** The differences in the shapes. */
export const shapeDeviations: readonly Deviation[] = [
  [
    /^endpoint\/outbound\|\d+\|\|a\.mesh\/endpoints\/0\/load_balancing_weight\/value: 2, istiod: 4$/,
    'An endpoint of an entry with two addresses is there once, as in the folders.',
  ],
  [
    /^listener\/.*(?:operation: "s\.istio-system:|stringValue: "\/apis\/networking\.istio\.io\/v1\/namespaces\/istio-system\/sidecar\/s")/,
    'A Sidecar of the root namespace is named by its own namespace; istiod names it by that of the proxy.',
  ],
  [
    /^route\/(?:3128|unix:\S+?)\/virtual_hosts\/"c\.example\.com:80(?:80)?"\/routes\/0\/(?:decorator\/operation|route\/cluster): /,
    'At a listener for all ports a destination without a port has the port of the request; istiod sends it to port 0, which no service has.',
  ],
  [
    /^route\/(?:3128|unix:\S+?)\/(?:ignore_port_in_host_matching: nothing|virtual_hosts\/"also\.mesh:80"\/domains\/"also\.mesh:80": )/,
    'At a listener for all ports the port of a request chooses the port of the service; with istiod Envoy ignores it, so only port 80 is reached.',
  ],
];

/** The answers of istiod 1.26 that vary from one start to the next. */
export const unsteady: readonly Deviation[] = [
  [
    /^route\/(?:3128|unix:\S+?)\/virtual_hosts\/"c\.example\.com:80"\/domains\/"c\.example\.com": .*, istiod: nothing$/,
    'At a listener for all ports a request without a port is for port 80; with istiod now and then for none.',
  ],
  [
    /^route\/80\/virtual_hosts\/"m[12]\.example\.com:80"\/domains\/"10\.5\.5\.[56]": /,
    'Of an entry with two hosts and two addresses the first host has both addresses; with istiod now and then the second host has one of them.',
  ],
];

/** The differences in the files of users. */
export const fileDeviations: readonly Deviation[] = [
  [
    /^listener\/2001:(?:db8|DB8):[^_]*1_90: /,
    'An address of IPv6 has one spelling, the canonical one, so two spellings of it are one address; istiod makes a listener for each, and Envoy refuses the second.',
  ],
  [
    /^listener\/0\.0\.0\.0_90\/filter_chains\/.*"240\.1\.(?:0\.0|2\.3)"/,
    'A range has its canonical spelling: 240.1.0.0/16 for 240.1.2.3/16, which Envoy reads alike.',
  ],
  [
    /^(?:(?:cluster|endpoint)\/outbound\|80\|\||route\/80\/virtual_hosts\/")(?:a\.mesh|A\.Mesh|a\.MESH)(?::80")?: /,
    'Hosts are compared without case, as names of DNS are, and are in lower case; istiod takes A.Mesh and a.MESH for two hosts, and the rule of one does not hold for the other.',
  ],
  [
    /^cluster\/outbound\|8[12]\|\|b\.mesh\/.*match_subject_alt_names\/[01](?:\/exact)?: /,
    'The names of all entries of a host are right in the certificates of its endpoints; istiod takes those of one entry, now this one and now that one.',
  ],
  [
    /^endpoint\/outbound\|8[01]\|\|[ab]\.mesh\/endpoints\/0\/(?:lb_endpoints\/.*"10\.0\.0\.[1-4]","port_value":80(?:0[12])?|load_balancing_weight\/value: )/,
    'Ports of the entries of a host are joined by number. With istiod, which joins them by name, requests to one port reach the endpoints of the other, and an entry whose port has another name is left out.',
  ],
  [
    /^endpoint\/outbound\|80\|\|a\.mesh\/endpoints\/3: nothing, istiod: \{.*"socket_address\\":\{\\"port_value\\":80\}/,
    'A workload of another network without an address is left out; istiod gives it an empty address, which Envoy refuses with all other endpoints.',
  ],
  [
    /^route\/80\/virtual_hosts\/"\*\.default\.svc\.cluster\.local:80"\/domains\/"\*": /,
    'No short name is the domain * alone: a route configuration has it already, and Envoy refuses it twice.',
  ],
];

/** The differences for AUTO_PASSTHROUGH. */
const passedOnDeviations: readonly Deviation[] = [
  [
    /^cluster\/outbound_\.80_\._\.(?:dns|drr)\.mesh: nothing/,
    'A service that DNS resolves, and none of whose endpoints supports mutual TLS, has no cluster; Envoy refuses that of istiod for DNS_ROUND_ROBIN.',
  ],
  [
    /^listener\/0\.0\.0\.0_15443\/filter_chains\/.*\["outbound_\.80_\.(?:v1)?_\.mongo\.mesh"\]/,
    'TLS that is passed on is not read as MONGO.',
  ],
  [
    /^listener\/0\.0\.0\.0_15443\/filter_chains\/.*\["outbound_\.80_\._\.\*\.(?:wild\.)?mesh"\]/,
    'A wildcard host has no chain: Envoy refuses its server name, and the listener with it.',
  ],
  [
    /^listener\/0\.0\.0\.0_15443\/filter_chains\/.*\["outbound_\.80_\._\.odd\.mesh"\]\}\] 1: nothing/,
    'If two servers of a listener contain a service, the first one has its chain; istiod sends both, and Envoy refuses the listener.',
  ],
];

/** The differences for gateways. */
export const gatewayDeviations: readonly Deviation[] = [
  ...passedOnDeviations,
  [
    /\/dynamic_metadata\/\d+\/value\/(?:present_match: true, istiod: nothing|or_match: nothing, istiod: \{)/,
    'A claim that is there is one that Envoy finds; istiod sends a match of no text, and Envoy refuses all routes of the port.',
  ],
  [
    /^route\/http\.8080\/virtual_hosts\/"(?:d\.example\.com:8080"\/require_tls: "ALL", istiod: nothing$|default\/b\.example\.com:8080": nothing)/,
    'A server with httpsRedirect redirects requests for its host, whatever namespace it is for; istiod has a virtual host for a name with a slash, which no request has.',
  ],
  [
    /^listener\/0\.0\.0\.0_8443\/filter_chains\/\[null,\{"server_names":\["one\.example\.com",("three\.example\.com",)?"two\.example\.com"\]/,
    'A match passes on the names that the server has; istiod passes on all names of the match.',
  ],
];

/** The differences in what proxies log and trace. */
export const telemetryDeviations: readonly Deviation[] = [];

/** The differences for objects of Kubernetes. */
export const kubeDeviations: readonly Deviation[] = [
  [
    /^endpoint\/.*\/health_status: nothing, istiod: "HEALTHY"$/,
    'Envoy calls an endpoint of whose health nothing is said as it calls a healthy one; those that are not ready are left out.',
  ],
  [
    /^cluster\/outbound\|80\|\|names\.example\.com\/load_assignment\/endpoints\/0\/priority: 1, istiod: nothing$/,
    'If a service of DNS prefers near endpoints, its names have priorities, as addresses have; istiod gives them weights alone.',
  ],
];

/** The differences for authorizers, with the proxies that each concerns. */
export const authorizerDeviations: readonly (readonly [proxies: RegExp, Deviation])[] = [
  [
    /with http/,
    [
      /^listener\/(?:virtualInbound\/filter_chains\/\["virtualInbound",|0\.0\.0\.0_8081\/).*\/filters\//,
      'An authorizer of HTTP cannot be asked about a connection, which is refused if it meets a rule; istiod lets it through.',
    ],
  ],
  [
    /with twice/,
    [
      /^listener\/.*\/(?:http_)?filters\//,
      'Of two providers of one name neither is asked, and what a policy asks it is refused; istiod asks one of them.',
    ],
  ],
];

/** The differences for a `localityLbSetting` of the MeshConfig. */
export const localityDeviations: readonly Deviation[] = [
  [
    /^cluster\/outbound\|80\|\|resolved-watched\.mesh\/load_assignment\/endpoints\/\d\/priority: (?:nothing|\d), istiod: (?:nothing|\d)$/,
    'Labels of failoverPriority give names of DNS priorities too, as they give them to addresses; istiod compares only labels of addresses.',
  ],
];
