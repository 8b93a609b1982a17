import { isIP } from 'node:net';
import { canonicalHost, isAddressRange } from '../fields/canonical.ts';
import {
  below,
  list,
  members,
  named,
  needed,
  port,
  type ReadMember,
  text,
  warn,
  wrong,
} from '../fields/members.ts';
import { clusterId } from './mesh-config.ts';
import {
  compareGateways,
  type GatewayService,
  type MeshNetworks,
  type NetworkGateway,
  type NetworkRange,
} from './mesh-networks.ts';
import type { Flaw } from '../documents/model.ts';
import { settingDocument } from './setting-document.ts';

export interface ReadNetworks {
  readonly networks: MeshNetworks;
  readonly flaws: readonly Flaw[];
}

const most = { gateways: 100, ranges: 1_000 };

type Gateway = Omit<NetworkGateway, 'network' | 'declaredBy'> | Omit<GatewayService, 'network'>;

interface Network {
  readonly ranges: readonly NetworkRange['selects'][];
  readonly gateways: readonly Gateway[];
}

/** Reads MeshNetworks in YAML. A part that has no effect here is a warning. Pure. */
export function readMeshNetworks(content: string, path: string): ReadNetworks {
  const { value, tell, flaws } = settingDocument(content, path);
  const networks = members(
    value,
    { parent: undefined, step: '', unknown: 'error', ifWrong: 'refuse', tell },
    [],
    (get) => Object.entries(get('networks', named(network))),
  );
  return {
    networks: {
      gateways: networks
        .flatMap(([name, { gateways }]) =>
          gateways.flatMap((gateway) =>
            'address' in gateway
              ? [{ network: name, ...gateway, declaredBy: 'MeshNetworks' as const }]
              : [],
          ),
        )
        .sort(compareGateways),
      ranges: networks.flatMap(([name, { ranges }]) =>
        ranges.map((selects) => ({ network: name, selects })),
      ),
      services: networks.flatMap(([name, { gateways }]) =>
        gateways.flatMap((gateway) => ('host' in gateway ? [{ network: name, ...gateway }] : [])),
      ),
    },
    flaws,
  };
}

const network: ReadMember<Network> = (value, place) =>
  members(value, place, [], (get) => {
    const ranges = get('endpoints', list(endpoints, most.ranges)).flat();
    const gateways = get('gateways', list(gateway, most.gateways)).flat();
    if (ranges.includes('cluster') || !gateways.some((entry) => 'host' in entry))
      return { ranges, gateways };
    warn(
      below(place, 'gateways'),
      `a registryServiceName has no effect in a network without 'fromRegistry: ${clusterId}' in endpoints`,
    );
    return { ranges, gateways: gateways.filter((entry) => 'address' in entry) };
  });

/** Reads an entry of `endpoints`. */
const endpoints: ReadMember<readonly NetworkRange['selects'][]> = (value, place) =>
  members(value, place, [], (get) => {
    const range = get('fromCidr', rangeText);
    const registry = get('fromRegistry', registryName);
    if (range === '' && registry === '')
      wrong(place, 'it is empty: fromCidr (such as 10.0.0.0/8) or fromRegistry is needed');
    return [
      ...(range === '' ? [] : [{ range }]),
      ...(registry === clusterId ? (['cluster'] as const) : []),
    ];
  });

const rangeText: ReadMember<string> = (value, place) => {
  const range = text(value, place);
  if (range === '' || (isAddressRange(range) && range.includes('/'))) return range;
  wrong(place, `'${range}' is not a range of addresses (such as 10.0.0.0/8)`);
  return '';
};

const registryName: ReadMember<string> = (value, place) => {
  const name = text(value, place);
  if (name !== '' && name !== clusterId)
    warn(place, `'${name}' has no effect: the only cluster is '${clusterId}'`);
  return name;
};

/** Reads an entry of `gateways`; one that has no effect here is left out. */
const gateway: ReadMember<readonly Gateway[]> = (value, place) =>
  members(value, place, ['locality'], (get, has) => {
    const number = get('port', port);
    const host = canonicalHost(get('registryServiceName', text));
    const address = get('address', gatewayAddress);
    if (number === undefined) wrong(place, 'its port is missing');
    if (has('address') && host !== '')
      wrong(place, 'it has address and registryServiceName: give one of them');
    if (number === undefined) return [];
    if (host !== '') return [{ host, port: number }];
    return address === '' ? [] : [{ address, port: number }];
  });

const gatewayAddress: ReadMember<string> = (value, place) => {
  if (value === undefined) return '';
  const address = canonicalHost(needed(value, place));
  if (address === '' || isIP(address) !== 0) return address;
  warn(place, `'${address}' has no effect: it is not an IP address, and names are not resolved`);
  return '';
};
