import type { ConnectionMatch, HttpMatch, TlsMatch } from '../istio/traffic/virtual-service.ts';
import type { StringMatch } from '../istio/fields/values.ts';
import { isWithin } from '../istio/fields/wildcard-host.ts';
import type { Resource } from '../istio/documents/model.ts';
import { selects } from '../generate/scope/peer-authentication-of.ts';
import { ownMember } from '../../shared/text/own-member.ts';
import { type Check, finding } from './facts.ts';
import type { AnalysisFinding } from './finding.ts';

/**
 * Finds routes and matches that no call reaches, because earlier routes take all of their calls.
 */
export const checkReach: Check = function* ({ virtualServices }) {
  for (const rule of virtualServices) {
    yield* hidden(rule, 'http', rule.spec.http, covers);
    yield* hidden(rule, 'tls', rule.spec.tls, coversTls);
    yield* hidden(rule, 'tcp', rule.spec.tcp, coversConnection);
  }
};

interface Routed<M> {
  readonly match: readonly M[];
}

function* hidden<M>(
  rule: Resource<'VirtualService'>,
  kind: 'http' | 'tls' | 'tcp',
  routes: readonly Routed<M>[],
  isCovered: (wide: M, narrow: M) => boolean,
): Generator<AnalysisFinding> {
  for (const [index, { match }] of routes.entries()) {
    const field = `spec.${kind}[${index}]`;
    const before = routes.slice(0, index);
    const coveringRoute = before.findIndex((route) => route.match.length === 0);
    const hiding = match.map((narrow) =>
      before.findIndex((route) => route.match.some((wide) => isCovered(wide, narrow))),
    );
    if (coveringRoute !== -1)
      yield finding('IST0130', rule, field, reasonOf(kind, [coveringRoute]));
    else if (match.length > 0 && !hiding.includes(-1))
      yield finding('IST0130', rule, field, reasonOf(kind, hiding));
    else
      for (const [matchIndex, routeIndex] of hiding.entries())
        if (routeIndex !== -1)
          yield finding(
            'IST0131',
            rule,
            `${field}.match[${matchIndex}]`,
            reasonOf(kind, [routeIndex]),
          );
  }
}

function reasonOf(kind: string, indexes: readonly number[]): string {
  const routes = [...new Set(indexes)].sort((a, b) => a - b).map((index) => `${kind}[${index}]`);
  const takers =
    routes.length === 1 ? `${routes.join('')} takes` : `${routes.join(' and ')} together take`;
  return `no call reaches it, because ${takers} all of them: move it up, or remove it`;
}

/** Whether `wide` takes each request that `narrow` takes; false if that is not certain. */
function covers(wide: HttpMatch, narrow: HttpMatch): boolean {
  return (
    (isAnyPath(wide.uri) || coversText(wide.uri, narrow.uri)) &&
    (wide.uri === undefined || wide.ignoreUriCase === narrow.ignoreUriCase) &&
    coversText(wide.scheme, narrow.scheme) &&
    coversText(wide.method, narrow.method) &&
    coversText(wide.authority, narrow.authority) &&
    coversTexts(wide.headers, narrow.headers) &&
    coversTexts(wide.queryParams, narrow.queryParams) &&
    isSameText(wide.withoutHeaders, narrow.withoutHeaders) &&
    coversCaller(wide, narrow)
  );
}

type Caller = Pick<HttpMatch, 'port' | 'sourceLabels' | 'sourceNamespace' | 'gateways'>;

/** A match without its own gateways applies to those of the resource. */
function coversCaller(wide: Caller, narrow: Caller): boolean {
  return (
    (wide.port === 0 || wide.port === narrow.port) &&
    (wide.gateways.length === 0 ||
      (narrow.gateways.length > 0 &&
        narrow.gateways.every((name) => wide.gateways.includes(name)))) &&
    (wide.sourceNamespace === '' || wide.sourceNamespace === narrow.sourceNamespace) &&
    selects(wide.sourceLabels, narrow.sourceLabels)
  );
}

function coversConnection(wide: ConnectionMatch, narrow: ConnectionMatch): boolean {
  const [all, some] = [wide.destinationSubnets, narrow.destinationSubnets];
  return (
    coversCaller(wide, narrow) &&
    (all.length === 0 || (some.length > 0 && some.every((range) => all.includes(range))))
  );
}

function coversTls(wide: TlsMatch, narrow: TlsMatch): boolean {
  return (
    coversConnection(wide, narrow) &&
    narrow.sniHosts.every((host) => wide.sniHosts.some((wideHost) => isWithin(host, wideHost)))
  );
}

const isAnyPath = (uri: StringMatch | undefined) => uri?.type === 'prefix' && uri.value === '/';

function coversText(wide: StringMatch | undefined, narrow: StringMatch | undefined): boolean {
  if (wide === undefined) return true;
  if (narrow === undefined) return false;
  if (wide.type === 'prefix' && narrow.type !== 'regex') return narrow.value.startsWith(wide.value);
  return wide.type === narrow.type && wide.value === narrow.value;
}

type TextMatches = Readonly<Record<string, StringMatch | undefined>>;

/** If the match of a name is undefined, the name only has to be present. */
function coversTexts(wide: TextMatches, narrow: TextMatches): boolean {
  return Object.entries(wide).every(
    ([name, match]) => Object.hasOwn(narrow, name) && coversText(match, ownMember(narrow, name)),
  );
}

const isSameText = (a: TextMatches, b: TextMatches): boolean =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
