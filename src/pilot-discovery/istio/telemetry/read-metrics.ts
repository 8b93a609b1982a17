import {
  below,
  boolean,
  duration,
  list,
  maybe,
  members,
  named,
  needed,
  notNull,
  oneOf,
  type ReadMember,
  text,
  warn,
  wrong,
} from '../fields/members.ts';
import type { Telemetry } from './telemetry.ts';

const words = (...names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.map((name) => [name, name]));

const metrics = words(
  ...['ALL_METRICS', 'REQUEST_COUNT', 'REQUEST_DURATION', 'REQUEST_SIZE', 'RESPONSE_SIZE'],
  ...['TCP_OPENED_CONNECTIONS', 'TCP_CLOSED_CONNECTIONS', 'TCP_SENT_BYTES', 'TCP_RECEIVED_BYTES'],
  ...['GRPC_REQUEST_MESSAGES', 'GRPC_RESPONSE_MESSAGES'],
);
const modes = words('CLIENT_AND_SERVER', 'CLIENT', 'SERVER');

const match: ReadMember<undefined> = (value, place) =>
  members(value, place, [], (get, has) => {
    get('mode', oneOf(modes, ''));
    get('metric', oneOf(metrics, ''));
    get('customMetric', maybe(needed));
    if (has('metric') && has('customMetric'))
      wrong(place, 'it has both metric and customMetric: one of them counts');
    return undefined;
  });

const tagOverride: ReadMember<undefined> = (value, place) =>
  members(value, place, [], (get) => {
    const operation = get('operation', oneOf(words('UPSERT', 'REMOVE'), 'UPSERT'));
    const given = get('value', text);
    if (operation === 'UPSERT' && given === '') wrong(place, 'it needs the value of the tag');
    if (operation === 'REMOVE' && given !== '')
      wrong(below(place, 'value'), 'a tag that is removed has no value');
    return undefined;
  });

const override: ReadMember<undefined> = (value, place) =>
  members(value, place, [], (get) => {
    get('match', maybe(match));
    get('disabled', boolean);
    get('tagOverrides', named(tagOverride));
    return undefined;
  });

const metricsEntry: ReadMember<readonly string[]> = (value, place) =>
  members(value, place, [], (get) => {
    const providers = get(
      'providers',
      list((provider, providerPlace) =>
        members(provider, providerPlace, [], (providerMember) => providerMember('name', needed)),
      ),
    );
    get('overrides', list(notNull(override)));
    const interval = get('reportingInterval', duration);
    if (interval === 0) wrong(below(place, 'reportingInterval'), 'give 1ms or more');
    return providers;
  });

/** Reads the names of providers, and reports mistakes. Metrics without one have no effect. */
export const readMetrics: ReadMember<Telemetry['metrics']> = (value, place) => {
  const entries = list(notNull(metricsEntry))(value, place);
  if (entries.length > 0)
    warn(
      place,
      "Envoy has no filter for Istio's metrics: it has no effect, and Envoy's own statistics stay",
    );
  return entries;
};
