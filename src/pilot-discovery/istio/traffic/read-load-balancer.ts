import type { HashKey, LoadBalancer } from './destination-rule.ts';
import { headerName } from '../fields/read-header-name.ts';
import { localities, zones } from './read-localities.ts';
import {
  below,
  boolean,
  duration,
  maybe,
  members,
  needed,
  oneOf,
  percent,
  type ReadMember,
  text,
  warn,
  whole,
  wrong,
} from '../fields/members.ts';

const cookie: ReadMember<HashKey> = (value, place) =>
  members(value, place, ['attributes'], (get) => ({
    type: 'cookie',
    name: get('name', needed),
    path: get('path', text),
    ttlMs: get('ttl', duration),
  }));

const consistentHash: ReadMember<LoadBalancer['policy']> = (value, place) =>
  members(value, place, [], (get, has) => {
    const keys = (
      ['httpHeaderName', 'httpCookie', 'useSourceIp', 'httpQueryParameterName'] as const
    ).filter(has);
    if (keys.length !== 1)
      wrong(
        place,
        'it needs exactly one of httpHeaderName, httpCookie, useSourceIp, httpQueryParameterName',
      );
    const header = get('httpHeaderName', maybe(headerName));
    const byCookie = get('httpCookie', maybe(cookie));
    const bySource = get('useSourceIp', boolean);
    const parameter = get('httpQueryParameterName', maybe(needed));
    if (bySource === false)
      wrong(
        below(place, 'useSourceIp'),
        'false gives no key: set it to true, or leave consistentHash out',
      );
    const key: HashKey =
      byCookie ??
      (parameter !== undefined
        ? { type: 'query-parameter', name: parameter }
        : header !== undefined
          ? { type: 'header', name: header }
          : { type: 'source-ip' });
    const minimum = get('minimumRingSize', whole(0, 8 * 1024 * 1024));
    const inner = get(
      'ringHash',
      maybe((ring, ringPlace) =>
        members(
          ring,
          ringPlace,
          [],
          (getRing) => getRing('minimumRingSize', whole(0, 8 * 1024 * 1024)) ?? 0,
        ),
      ),
    );
    const maglev = get(
      'maglev',
      maybe((table, tablePlace) =>
        members(
          table,
          tablePlace,
          [],
          (getTable) => getTable('tableSize', whole(1, 5_000_011)) ?? 65_537,
        ),
      ),
    );
    if (maglev !== undefined && !isPrime(maglev))
      wrong(below(place, 'maglev.tableSize'), `${maglev} is not a prime number`);
    if (maglev !== undefined && inner !== undefined)
      wrong(place, 'ringHash and maglev exclude each other: leave one out');
    const ring =
      maglev === undefined
        ? ({ type: 'ring-hash', minimumRingSize: inner ?? minimum ?? 1024 } as const)
        : ({ type: 'maglev', tableSize: maglev } as const);
    return { type: 'consistent-hash', key, ring };
  });

function isPrime(number: number): boolean {
  for (let divisor = 2; divisor * divisor <= number; divisor += 1)
    if (number % divisor === 0) return false;
  return number > 1;
}

const simple = {
  UNSPECIFIED: 'unspecified',
  LEAST_REQUEST: 'least-request',
  LEAST_CONN: 'least-request',
  ROUND_ROBIN: 'round-robin',
  RANDOM: 'random',
  PASSTHROUGH: 'passthrough',
} as const;

/** Reads how a cluster chooses an endpoint. */
export const loadBalancer: ReadMember<LoadBalancer> = (value, place) =>
  members(value, place, [], (get, has) => {
    const hash = get('consistentHash', maybe(consistentHash));
    const type = get('simple', oneOf(simple, 'unspecified'));
    if (hash !== undefined && has('simple'))
      wrong(place, 'simple and consistentHash exclude each other: leave one out');
    const seconds = get('warmupDurationSecs', duration);
    const warmup = get(
      'warmup',
      maybe((inner, warmupPlace) =>
        members(inner, warmupPlace, [], (getWarmup, hasOf) => {
          if (!hasOf('duration'))
            wrong(below(warmupPlace, 'duration'), 'it is missing: a duration');
          return {
            durationMs: getWarmup('duration', duration) ?? 0,
            minimumPercent: getWarmup('minimumPercent', percent) ?? 10,
            aggression: getWarmup('aggression', ratio) ?? 1,
          };
        }),
      ),
    );
    const zoneSettings = get('zoneAwareLbSetting', maybe(zones));
    if (zoneSettings !== undefined && has('localityLbSetting'))
      wrong(place, 'localityLbSetting and zoneAwareLbSetting exclude each other: leave one out');
    if (zoneSettings?.preference === 'own-zone' && hash !== undefined)
      warn(
        below(place, 'zoneAwareLbSetting'),
        'with consistentHash Envoy prefers no zone: it has effect on regions only',
      );
    return {
      policy: hash ?? { type },
      locality: get('localityLbSetting', maybe(localities)),
      zones: zoneSettings,
      warmup:
        warmup ??
        (seconds === undefined
          ? undefined
          : { durationMs: seconds, minimumPercent: undefined, aggression: undefined }),
    };
  });

const ratio: ReadMember<number | undefined> = (value, place) => {
  if (value === undefined || (typeof value === 'number' && value >= 1)) return value;
  wrong(place, 'it is not a number from 1 on');
  return undefined;
};
