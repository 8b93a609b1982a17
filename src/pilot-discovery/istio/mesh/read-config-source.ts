import { parseHostPort, portNumber } from '../../../shared/text/host-port.ts';
import { isLabel } from '../fields/host-names.ts';
import { boolean, list, members, needed, oneOf, text, warn, wrong } from '../fields/members.ts';
import type { Get, Place, ReadMember } from '../fields/members.ts';
import type { ConfigServer, ConfigServerTls } from './config-server.ts';

/** An element of `configSources`; undefined if it is not read. */
type ConfigPlace =
  | { readonly type: 'folder'; readonly path: string }
  | { readonly type: 'server'; readonly server: ConfigServer }
  | undefined;

/** Reads `fs://FOLDER`, or `xds://HOST:PORT` with options and TLS. */
export const configSource: ReadMember<ConfigPlace> = (value, place) =>
  members(value, place, ['subscribedResources'], (get) => {
    const tls = get('tlsSettings', tlsSettings);
    return get('address', (address, addressPlace) => {
      const read = needed(address, addressPlace);
      if (/^fs:\/\/./.test(read)) return { type: 'folder', path: read.slice('fs://'.length) };
      if (read.startsWith('xds://')) return serverOf(read, tls, addressPlace);
      if (read !== '')
        warn(addressPlace, `'${read}' is not read: only fs://FOLDER and xds://HOST:PORT are`);
      return undefined;
    });
  });

/** The names of the options in an address. */
const options = ['namespaces', 'tokenFile'];

function serverOf(address: string, tls: ConfigServer['tls'], place: Place): ConfigPlace {
  const [hostPort = '', query = '', ...more] = address.slice('xds://'.length).split('?');
  const { host = '', port } = parseHostPort(hostPort) ?? {};
  const given = new URLSearchParams(query);
  const unknown = [...given.keys()].find((name) => !options.includes(name));
  const namespaces = (given.get('namespaces') ?? '').split(',').filter((name) => name !== '');
  const tokenFile = given.get('tokenFile') ?? '';
  if (host === '' || /[/\s]/.test(hostPort) || portNumber(port) === undefined || more.length > 0)
    wrong(place, `'${address}' is not xds://HOST:PORT (such as xds://istiod.istio-system:15010)`);
  else if (unknown !== undefined)
    wrong(place, `'${unknown}' is not an option: one of ${options.join(', ')}`);
  else if (namespaces.some((name) => !isLabel(name)) || namespaces.length > mostNamespaces)
    wrong(place, `'${namespaces.join(',')}' is not a list of at most ${mostNamespaces} namespaces`);
  else if (tokenFile !== '' && tls === undefined)
    wrong(place, 'a token is not sent in plain text: give tlsSettings.mode too');
  else return { type: 'server', server: { address: hostPort, namespaces, tokenFile, tls } };
  return undefined;
}

/** The node, which has the namespaces, must not be too large for a server. */
const mostNamespaces = 1_000;

const tlsSettings: ReadMember<ConfigServerTls | undefined> = (value, place) =>
  members(value, place, ['caCrl', 'credentialName'], (get, has) => {
    const modes = { DISABLE: 'plain', SIMPLE: 'simple', MUTUAL: 'mutual' } as const;
    const mode = get('mode', oneOf<'plain' | 'simple' | 'mutual'>(modes, 'plain'));
    const tls: ConfigServerTls = {
      roots: get('caCertificates', text),
      pair: pairOf(get),
      sni: get('sni', text),
      names: get('subjectAltNames', list(text)),
    };
    if (get('insecureSkipVerify', boolean) === true)
      wrong(place, 'a server is always verified: leave insecureSkipVerify out');
    if (has('credentialName'))
      wrong(place, 'a certificate is not read from a Secret: name files instead');
    if (mode === 'mutual' && tls.pair === undefined)
      wrong(place, 'MUTUAL needs clientCertificate and privateKey');
    return mode === 'plain' ? undefined : tls;
  });

function pairOf(get: Get): ConfigServerTls['pair'] {
  const [chain, key] = [get('clientCertificate', text), get('privateKey', text)];
  return chain === '' || key === '' ? undefined : { chain, key };
}
