import { isIpAddress } from '../../../shared/text/host-port.ts';
import { canonicalHost } from './canonical.ts';
import { isDnsName, isLabel } from './host-names.ts';
import { type Get, needed, port, type ReadMember, wrong } from './members.ts';
import type { ProviderAddress } from './provider-address.ts';

const serviceName: ReadMember<string> = (value, place) => {
  const read = needed(value, place);
  const [host = '', ...before] = read.split('/').reverse();
  const isRight =
    (isDnsName(host) && before.every(isLabel) && before.length <= 1) ||
    (before.length === 0 && isIpAddress(host));
  if (read !== '' && !isRight)
    wrong(place, `'${read}' is not a service: give HOST, or NAMESPACE/HOST`);
  return [...before, canonicalHost(host)].join('/');
};

const neededPort: ReadMember<number> = (value, place) => {
  if (value === undefined) wrong(place, 'it is missing');
  return port(value, place) ?? 0;
};

/** Reads `service` and `port` of a provider. */
export const providerAddress = (get: Get): ProviderAddress => ({
  service: get('service', serviceName),
  port: get('port', neededPort),
});
