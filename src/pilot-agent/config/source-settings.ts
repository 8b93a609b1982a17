import * as z from 'zod/mini';
import type { Problem } from '../../shared/text/value.ts';
import type { SourceConfig } from './source-config.ts';
import { isUrl, type Reach, sourceDefaults, sourceValues } from './source-values.ts';
import { value } from '../../shared/text/value.ts';

/** The values of the flags about sources. */
export const sourceFlagsSchema = value.message({
  watch: sourceValues.paths,
  configUrl: z.union([z.literal(''), sourceValues.url], 'is not an http or https URL'),
  configUrlCAFile: value.text,
  configUrlTokenFile: value.text,
  watchKube: z.array(sourceValues.kubeObject, 'is not a list of KIND/NAMESPACE/NAME'),
  kubeconfig: value.text,
  watchConsul: z.array(sourceValues.consulWatch, 'is not a list of kv/PREFIX and service/NAME'),
  consulAddress: value.text,
  consulCAFile: value.text,
  consulTokenFile: value.text,
  httpProxy: z.union([z.literal(''), sourceValues.proxy], 'is not http://HOST:PORT'),
  noProxy: z.array(sourceValues.exceptions, 'is not a list of hosts'),
});

type SourceFlags = z.output<typeof sourceFlagsSchema>;

/** The sources that a configuration file lists. */
export interface ListedSources {
  readonly makeSources: (reach: Reach) => readonly SourceConfig[];
  readonly count: number;
  /** The name of the list. */
  readonly place: string;
}

export interface SourceConfigs {
  readonly sources: readonly SourceConfig[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly string[];
}

/**
 * Returns the sources of flags and a configuration file, and the mistakes of the whole list: each
 * source needs its own name. Pure.
 *
 * @param place returns the name by which a flag was given
 */
export function sourceConfigs(
  flags: SourceFlags,
  place: (flag: keyof SourceFlags) => string,
  listed: ListedSources = { makeSources: () => [], count: 0, place: '' },
): SourceConfigs {
  const address = consulUrl(flags.consulAddress);
  const reach: Reach = {
    kubeconfig: flags.kubeconfig,
    consul: {
      address: address ?? '',
      caFile: flags.consulCAFile,
      tokenFile: flags.consulTokenFile,
    },
  };
  const fromFile = listed.makeSources(reach);
  const placedSources: readonly (readonly [place: string, source: SourceConfig])[] = [
    ...fromFile.map((source, index) => [`${listed.place}[${index}].name`, source] as const),
    ...(flags.watch.length > 0 ? [[place('watch'), files(flags)] as const] : []),
    ...(flags.configUrl === '' ? [] : [[place('configUrl'), envoyByUrl(flags)] as const]),
    ...flags.watchKube.map((text) => [place('watchKube'), kube(text, reach)] as const),
    ...flags.watchConsul.map((text) => [place('watchConsul'), consul(text, reach)] as const),
  ];
  const names = new Set<string>();
  const repeated = placedSources.filter(([, { name }]) => names.size === names.add(name).size);
  const isAddressed = placedSources.some(
    ([, source]) => source.kind === 'consul' && source.address === '',
  );
  return {
    sources: placedSources.map(([, source]) => source),
    problems: [
      ...(isAddressed
        ? [{ place: place('consulAddress'), text: 'is not an http or https URL, nor host:port' }]
        : []),
      ...repeated.map(([sourcePlace, { name }]) => ({
        place: sourcePlace,
        text: `there is a source '${name}' already`,
      })),
    ],
    warnings: warningsOf(flags, place),
  };
}

function files({ watch }: SourceFlags): SourceConfig {
  return { kind: 'files', name: 'watch', as: 'restart', at: '', paths: watch };
}

function envoyByUrl({
  configUrl: url,
  configUrlCAFile: caFile,
  configUrlTokenFile: tokenFile,
}: SourceFlags): SourceConfig {
  return {
    kind: 'http',
    name: 'url',
    as: 'envoy',
    at: '',
    url,
    ...sourceDefaults.http,
    caFile,
    tokenFile,
  };
}

function kube(text: string, { kubeconfig }: Reach): SourceConfig {
  const [resource = '', namespace = '', object = ''] = text.split('/');
  return {
    kind: 'kube',
    name: `kube/${text}`,
    as: sourceDefaults.kube(resource),
    at: '',
    resource,
    namespace,
    object,
    key: '',
    kubeconfig,
  };
}

function consul(text: string, reach: Reach): SourceConfig {
  const rest = text.slice(text.indexOf('/') + 1);
  const watch = text.startsWith('kv/') ? { prefix: rest } : { service: rest };
  return { kind: 'consul', name: `consul/${text}`, as: 'restart', at: '', ...reach.consul, watch };
}

/** Returns warnings for settings without effect, and for a token that is sent in plaintext. */
function warningsOf(
  flags: SourceFlags,
  place: (flag: keyof SourceFlags) => string,
): readonly string[] {
  const idle = (['configUrlCAFile', 'configUrlTokenFile'] as const).filter(
    (flag) => flags.configUrl === '' && flags[flag] !== '',
  );
  const isPlain = flags.configUrlTokenFile !== '' && /^http:/i.test(flags.configUrl);
  return [
    ...idle.map((flag) => `${place(flag)} has no effect without --configUrl, and is ignored`),
    ...(flags.httpProxy === '' && flags.noProxy.length > 0
      ? [`${place('noProxy')} has no effect without --httpProxy, and is ignored`]
      : []),
    ...(isPlain ? [`${place('configUrlTokenFile')} is sent in plaintext: use an https URL`] : []),
  ];
}

/** Accepts `host:port` too, as Consul's own programs do. */
function consulUrl(text: string): string | undefined {
  const whole = text.includes('://') ? text : `http://${text}`;
  return isUrl(whole) ? whole : undefined;
}
