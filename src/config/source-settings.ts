import * as z from 'zod/mini';
import type { Problem } from './read-layer.ts';
import type { SourceConfig } from './source-config.ts';
import { value } from './value.ts';

const kubeObject = /^[A-Z][A-Za-z\d]*(?:\.[a-z\d.-]+)?\/[a-z\d][a-z\d-]{0,62}\/[a-z\d][a-z\d.-]{0,252}$/;
const consulWatch = /^(?:kv|service)\/[^/].*$/s;
const url = /^https?:\/\/[^\s/]+/i;
/** It may have a password: what was given is not repeated. */
const notUrl = 'is not an http or https URL';

/** The values of the flags about sources. */
export const sourceFlagsSchema = value.message({
  watch: z.array(z.string('is not a text').check(z.minLength(1, 'an empty text is not a path')), 'is not a list of paths'),
  configUrl: z.string(notUrl).check(z.refine((text) => text === '' || isUrl(text), notUrl)),
  configUrlCAFile: value.text,
  configUrlTokenFile: value.text,
  watchKube: z.array(
    value.parsed("KIND/NAMESPACE/NAME, such as 'Secret/default/front' or 'Gateway.networking.istio.io/default/front'", (text) =>
      kubeObject.test(text) ? text : undefined, kubeObject), // prettier-ignore
    'is not a list of KIND/NAMESPACE/NAME',
  ),
  kubeconfig: value.text,
  watchConsul: z.array(
    value.parsed('kv/PREFIX or service/NAME', (text) => (consulWatch.test(text) ? text : undefined), consulWatch),
    'is not a list of kv/PREFIX and service/NAME',
  ),
  consulAddress: value.text,
  consulCAFile: value.text,
  consulTokenFile: value.text,
});

type SourceFlags = z.output<typeof sourceFlagsSchema>;

/** What a source is unless something else is said; times in ms, sizes in bytes. */
const http = { every: 30_000, timeout: 10_000, largest: 16 << 20 } as const;

export interface SourceConfigs {
  readonly sources: readonly SourceConfig[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/**
 * The sources that flags ask for, and what is wrong with them as a whole: each has a name of its
 * own. Pure.
 *
 * @param place what a flag is called where it was given
 */
export function sourceConfigs(flags: SourceFlags, place: (flag: keyof SourceFlags) => string): SourceConfigs {
  const problems: Problem[] = [];
  const address = consulUrl(flags.consulAddress);
  if (address === undefined && flags.watchConsul.length > 0)
    problems.push({ place: place('consulAddress'), text: `${notUrl}, nor host:port` });

  const made = [
    ...(flags.watch.length > 0 ? [['watch', files(flags)] as const] : []),
    ...(flags.configUrl === '' ? [] : [['configUrl', envoyByUrl(flags)] as const]),
    ...flags.watchKube.map((text) => ['watchKube', kube(text, flags)] as const),
    ...flags.watchConsul.map((text) => ['watchConsul', consul(text, flags, address ?? '')] as const),
  ];
  const repeated = made.filter(([, { name }], index) => made.findIndex(([, other]) => other.name === name) < index);
  problems.push(...repeated.map(([flag, { name }]) => ({ place: place(flag), text: `there is a source '${name}' already` })));
  return { sources: made.map(([, source]) => source), problems, warnings: warningsOf(flags, place) };
}

function files({ watch }: SourceFlags): SourceConfig {
  return { kind: 'files', name: 'watch', as: 'restart', at: '', paths: watch };
}

function envoyByUrl({ configUrl, configUrlCAFile, configUrlTokenFile }: SourceFlags): SourceConfig {
  return {
    kind: 'http',
    name: 'url',
    as: 'envoy',
    at: '',
    url: configUrl,
    ...http,
    caFile: configUrlCAFile,
    tokenFile: configUrlTokenFile,
  };
}

function kube(text: string, { kubeconfig }: SourceFlags): SourceConfig {
  const [resource = '', namespace = '', object = ''] = text.split('/');
  const as = resource === 'Secret' ? 'secret' : 'restart';
  return { kind: 'kube', name: `kube/${text}`, as, at: '', resource, namespace, object, key: '', kubeconfig };
}

function consul(text: string, { consulCAFile: caFile, consulTokenFile: tokenFile }: SourceFlags, address: string): SourceConfig {
  const rest = text.slice(text.indexOf('/') + 1);
  const watch = text.startsWith('kv/') ? { prefix: rest } : { service: rest };
  return { kind: 'consul', name: `consul/${text}`, as: 'restart', at: '', address, watch, caFile, tokenFile };
}

/** A warning for what changes nothing, and for a token that anybody on the way can read. */
function warningsOf(flags: SourceFlags, place: (flag: keyof SourceFlags) => string): readonly string[] {
  const idle = (['configUrlCAFile', 'configUrlTokenFile'] as const).filter((flag) => flags.configUrl === '' && flags[flag] !== '');
  const isPlain = flags.configUrlTokenFile !== '' && /^http:/i.test(flags.configUrl);
  return [
    ...idle.map((flag) => `${place(flag)} has no effect without --configUrl, and is ignored`),
    ...(isPlain ? [`${place('configUrlTokenFile')} is sent in plaintext: use an https URL`] : []),
  ];
}

/** Consul's own programs take `host:port` too. */
function consulUrl(text: string): string | undefined {
  const whole = text.includes('://') ? text : `http://${text}`;
  return isUrl(whole) ? whole : undefined;
}

function isUrl(text: string): boolean {
  return url.test(text) && URL.canParse(text);
}
