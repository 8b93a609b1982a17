import {
  below,
  boolean,
  ignored,
  members,
  percent,
  type Place,
  type ReadMember,
  warn,
  whole,
} from '../fields/members.ts';
import { defaultProxyTracing, type ProxyTracing } from './proxy-tracing.ts';
import { customTags } from '../fields/read-custom-tags.ts';

const length = whole(0, 2 ** 32 - 1);

/** Istio takes 0 as if it were not given. */
const aboveZero = (value: number | undefined) => (value === 0 ? undefined : value);

/** Reads the longest tag of a path, in bytes. */
export const tagLength: ReadMember<number | undefined> = (value, place) =>
  aboveZero(length(value, place));

/** Fields that configure an agent. */
const ofAgents = [
  ...['zipkin', 'lightstep', 'datadog', 'stackdriver', 'openCensusAgent', 'tlsSettings'],
];

/** Reads the `tracing` of a ProxyConfig, as far as a control plane uses it. */
export const proxyTracing: ReadMember<ProxyTracing> = (value, place) =>
  members(value, place, [], (get, has) => {
    for (const name of ofAgents) {
      get(name, ignored);
      if (has(name)) warn(below(place, name), 'it has no effect here: an agent reads it');
    }
    return {
      sampling: aboveZero(get('sampling', percent)) ?? defaultProxyTracing.sampling,
      customTags: get('customTags', customTags),
      maxPathTagLength: get('maxPathTagLength', tagLength),
      istioTags: get('enableIstioTags', boolean) === false ? 'off' : 'on',
    };
  });

/**
 * Reads the settings of a ProxyConfig that a proxy sends; undefined if it sends none. If they are
 * wrong, the defaults apply. Pure.
 */
export function sentTracing(proxyConfig: unknown): ProxyTracing | undefined {
  if (proxyConfig === undefined || proxyConfig === null) return undefined;
  const errors: string[] = [];
  const place: Place = {
    parent: undefined,
    step: 'PROXY_CONFIG',
    unknown: 'nothing',
    ifWrong: 'refuse',
    tell: (_, reason, severity) => {
      if (severity === 'error') errors.push(reason);
    },
  };
  const tracing = members(proxyConfig, place, [], (get) => get('tracing', proxyTracing));
  return errors.length > 0 ? defaultProxyTracing : tracing;
}
