import { readCel } from './read-cel.ts';
import { selector } from '../fields/match-labels.ts';
import {
  below,
  boolean,
  list,
  maybe,
  members,
  needed,
  notNull,
  oneOf,
  percent,
  type ReadMember,
  warn,
  wrong,
} from '../fields/members.ts';
import { customTags } from '../fields/read-custom-tags.ts';
import { readMetrics } from './read-metrics.ts';
import { readTargets } from '../fields/read-targets.ts';
import type { AccessLogging, CallSide, SampledBy, Telemetry, TracingEntry } from './telemetry.ts';

/** The names that a filter may look up. With another name the filter passes no call. */
const attributes = new Set(
  `request response connection source destination upstream metadata filter_state upstream_filter_state xds`.split(
    ' ',
  ),
);
/** Names of types in CEL. */
const types = new Set(
  `bool bytes double int list map null_type string type uint google`.split(' '),
);

const filter: ReadMember<string> = (value, place) =>
  members(value, place, [], (get) =>
    get('expression', (expression, expressionPlace) => {
      const read = needed(expression, expressionPlace);
      if (read === '') return '';
      const { flaw, roots } = readCel(read);
      if (flaw !== undefined) wrong(expressionPlace, `Envoy refuses it: ${flaw}`);
      const unknown = [...roots].find((name) => !attributes.has(name) && !types.has(name));
      if (flaw === undefined && unknown !== undefined)
        warn(
          expressionPlace,
          `Envoy knows no '${unknown}', so nothing is logged: one of ${[...attributes].join(', ')}`,
        );
      return read;
    }),
  );

const providerName: ReadMember<string> = (value, place) =>
  members(value, place, [], (get) => get('name', needed));

const sides = {
  CLIENT_AND_SERVER: ['client', 'server'],
  CLIENT: ['client'],
  SERVER: ['server'],
} as const satisfies Readonly<Record<string, readonly CallSide[]>>;

/** Reads the sides to which an entry applies. */
const matchedSides: ReadMember<readonly CallSide[]> = (value, place) =>
  members(value, place, [], (get) =>
    get('mode', oneOf<readonly CallSide[]>(sides, sides.CLIENT_AND_SERVER)),
  );

const accessLogging: ReadMember<AccessLogging> = (value, place) =>
  members(value, place, [], (get) => {
    const providers = get('providers', list(providerName));
    const expression = get('filter', maybe(filter));
    const logging = get('disabled', boolean) === true ? 'off' : 'on';
    if (expression !== undefined && providers.length === 0)
      warn(
        below(place, 'filter'),
        'it applies only to the providers of this entry, and there are none',
      );
    return { sides: get('match', matchedSides), providers, logging, filter: expression ?? '' };
  });

/** Returns a reader of a switch; undefined if it is not given. */
const switched =
  <T>(ifTrue: T, ifFalse: T): ReadMember<T | undefined> =>
  (value, place) => {
    const read = boolean(value, place);
    return read === undefined ? undefined : read ? ifTrue : ifFalse;
  };

const tracing: ReadMember<TracingEntry> = (value, place) =>
  members(value, place, [], (get) => {
    const [provider, ...others] = get('providers', list(providerName));
    if (others.length > 0)
      warn(below(place, 'providers'), `only the first one, ${provider ?? ''}, has an effect`);
    return {
      sides: get('match', matchedSides),
      provider,
      spans: get('disableSpanReporting', switched<'on' | 'off'>('off', 'on')),
      sampling: get('randomSamplingPercentage', percent),
      customTags: get('customTags', maybe(customTags)),
      istioTags: get('enableIstioTags', switched<'on' | 'off'>('on', 'off')),
      sampledBy: get('useRequestIdForTraceSampling', switched<SampledBy>('request-id', 'proxy')),
    };
  });

/** Reads what proxies log and trace. */
export const readTelemetry: ReadMember<Telemetry> = (value, place) =>
  members(value, place, [], (get, has) => {
    const chosen = get('selector', selector('matchLabels'));
    const target = readTargets(get, has);
    if (target === 'targets' && has('selector'))
      wrong(place, 'it cannot have both a selector and targetRefs');
    if (has('targetRef') && has('targetRefs')) wrong(place, 'it has both targetRef and targetRefs');
    if (target === 'targets')
      warn(place, 'it is for gateways or services (targetRefs), and has no effect');
    if (chosen !== undefined && Object.keys(chosen).length === 0)
      warn(below(place, 'selector'), 'it has no labels, so it selects all workloads');
    const metrics = get('metrics', readMetrics);
    return {
      for: target,
      selector: chosen,
      accessLogging: get('accessLogging', list(notNull(accessLogging))),
      tracing: get('tracing', list(notNull(tracing))),
      metrics,
    };
  });
