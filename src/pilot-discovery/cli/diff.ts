import { printable, printableJson } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { print } from '../../shared/program/print.ts';
import { flawFindings } from '../analyze/analysis.ts';
import type { AnalysisFinding } from '../analyze/finding.ts';
import { findingsText } from '../analyze/show-findings.ts';
import { type BoundedDiff, boundedDiff } from '../diff/bounded-diff.ts';
import { type ComparedProxy, describedProxies } from '../diff/described-proxies.ts';
import { meshDiff } from '../diff/mesh-diff.ts';
import { type MeshSettings, meshPair } from '../diff/mesh-pair.ts';
import { namedProxy } from '../diff/named-proxy.ts';
import { diffJson, diffText } from '../diff/show-diff.ts';
import { readPaths } from '../registry/files/read-paths.ts';
import { discoveryConfig } from '../run/discovery-config.ts';
import { namedMesh } from '../run/named-settings.ts';
import { diffAgainst } from './diff-against.ts';
import { givenPaths } from './given-paths.ts';
import { placedFindings } from './placed-findings.ts';

/** Only a running control plane fetches the keys of issuers. */
const noKeys = new Map<string, string>();

/** The exit code if something changes for a proxy. */
const changes = 1;

export interface DiffOptions {
  readonly output: string;
  /** The address of a control plane that runs; undefined if two folders are compared. */
  readonly against?: string;
  readonly proxy: readonly string[];
  readonly meshConfig?: string;
  readonly domain: string;
  readonly namespace: string;
}

/** The two sides of a comparison. */
type Compared =
  | { readonly type: 'running'; readonly address: string; readonly now: string }
  | {
      readonly type: 'folders';
      readonly old: string;
      readonly now: string;
      readonly named: readonly ComparedProxy[];
    };

/**
 * `pilot-discovery diff OLD NEW`: prints what changes for proxies if a control plane reads NEW
 * instead of OLD; mistakes in the resources go to stderr. With `--against`, compares NEW with what
 * a control plane serves now. Rejects with a {@link Fatal}: without a message and with 1 if
 * something changes, with 64 for a bad command line, with 69 if the control plane does not answer,
 * with 78 if something cannot be read, or if a resource of NEW is refused.
 */
export async function diff(paths: readonly string[], options: DiffOptions): Promise<void> {
  const { output, domain, namespace } = options;
  if (!['text', 'json'].includes(output))
    throw new Fatal(`--output: '${output}' is neither text nor json`, exitCodes.usage);
  const compared = comparedOf(paths, options);
  const { mesh, folders } = namedMesh(options.meshConfig);
  const { config, problems } = discoveryConfig({ domain }, process.env);
  if (problems.length > 0) throw new Fatal(problems.join('; '), exitCodes.usage);
  const storeOf = (path: string): ReadStore => {
    const store = readPaths(givenPaths([path, ...folders]), namespace);
    for (const { lost } of store.sources.values())
      if (lost !== undefined) throw new Fatal(lost, exitCodes.config);
    return { ...store, mesh, fetchedKeys: noKeys };
  };
  if (compared.type === 'folders')
    await printFolders(
      storeOf(compared.old),
      storeOf(compared.now),
      compared.named,
      config,
      output,
    );
  else {
    const store = storeOf(compared.now);
    const { diff: running, warnings, note } = await diffAgainst(compared.address, store, config);
    const flaws = placedFindings(flawFindings(store, warnings));
    sayFlaws(flaws);
    if (note !== undefined) process.stderr.write(`pilot-discovery: ${printable(note)}\n`);
    await printDiff(boundedDiff(running), flaws, output);
  }
}

type ReadStore = ReturnType<typeof readPaths>;

function comparedOf(
  paths: readonly string[],
  { against, proxy }: Pick<DiffOptions, 'against' | 'proxy'>,
): Compared {
  const [first, second, ...others] = paths;
  if (against === undefined) {
    if (first === undefined || second === undefined || others.length > 0)
      throw new Fatal(`${paths.length} paths: name OLD and NEW`, exitCodes.usage);
    return { type: 'folders', old: first, now: second, named: proxy.map(proxyNamed) };
  }
  if (first === undefined || second !== undefined)
    throw new Fatal(`${paths.length} paths: with --against, name NEW alone`, exitCodes.usage);
  if (proxy.length > 0)
    throw new Fatal(
      '--proxy: with --against, the proxies are those that are connected: leave it out',
      exitCodes.usage,
    );
  return { type: 'running', address: against, now: first };
}

async function printFolders(
  before: ReadStore,
  after: ReadStore,
  named: readonly ComparedProxy[],
  settings: MeshSettings,
  output: string,
): Promise<void> {
  const pair = meshPair(before, after, settings);
  const flaws = placedFindings(flawFindings(after, pair.after.warnings));
  sayFlaws([...placedFindings(flawFindings(before, pair.before.warnings)), ...flaws]);
  const proxies = [...describedProxies(pair, settings.domain), ...named];
  if (proxies.length === 0)
    throw new Fatal(
      'neither folder describes a proxy (by a Pod or a WorkloadEntry with an IP address, by such an endpoint of a ServiceEntry, or by the selector of a Gateway): name one by --proxy',
      exitCodes.usage,
    );
  await printDiff(boundedDiff(meshDiff(pair, proxies)), flaws, output);
}

/** Writes flaws to stderr, each line once: OLD and NEW may be the same. */
function sayFlaws(flaws: readonly AnalysisFinding[]): void {
  const lines = new Set(findingsText(flaws).split(/(?<=\n)/));
  process.stderr.write(printable([...lines].join('')));
}

async function printDiff(
  bounded: BoundedDiff,
  flaws: readonly AnalysisFinding[],
  output: string,
): Promise<void> {
  await print(output === 'json' ? printableJson(diffJson(bounded)) : printable(diffText(bounded)));
  const refused = flaws.filter(({ code }) => code === 'IST0106').length;
  if (refused > 0)
    throw new Fatal(
      `the comparison is not complete, because resources of NEW are refused: correct them first (${refused} above)`,
      exitCodes.config,
    );
  if (bounded.changed > 0) throw new Fatal('', changes);
}

function proxyNamed(text: string): ComparedProxy {
  const proxy = namedProxy(text);
  if (typeof proxy === 'string') throw new Fatal(`--proxy: ${proxy}`, exitCodes.usage);
  return proxy;
}
