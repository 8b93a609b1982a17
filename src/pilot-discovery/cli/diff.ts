import { printable, printableJson } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { print } from '../../shared/program/print.ts';
import { flawFindings } from '../analyze/analysis.ts';
import type { AnalysisFinding } from '../analyze/finding.ts';
import { findingsText } from '../analyze/show-findings.ts';
import { type BoundedDiff, boundedDiff } from '../diff/bounded-diff.ts';
import { type ComparedProxy, describedProxies } from '../diff/described-proxies.ts';
import { meshDiff } from '../diff/mesh-diff.ts';
import { meshPair } from '../diff/mesh-pair.ts';
import { namedProxy } from '../diff/named-proxy.ts';
import { diffJson, diffText } from '../diff/show-diff.ts';
import { readPaths } from '../registry/files/read-paths.ts';
import { discoveryConfig } from '../run/discovery-config.ts';
import { namedMesh } from '../run/named-mesh.ts';
import { givenPaths } from './given-paths.ts';
import { placedFindings } from './placed-findings.ts';

/** Keys of issuers are fetched only by a control plane that runs. */
const noKeys = new Map<string, string>();

/** The exit code if something changes for a proxy. */
const changes = 1;

export interface DiffOptions {
  readonly output: string;
  readonly proxy: readonly string[];
  readonly meshConfig?: string;
  readonly domain: string;
  readonly namespace: string;
}

/**
 * `pilot-discovery diff OLD NEW`: prints what changes for proxies if a control plane reads NEW
 * instead of OLD; mistakes in the resources go to stderr. Rejects with a {@link Fatal}: without a
 * message and with 1 if something changes, with 64 for a bad command line, with 78 if something
 * cannot be read, or if a resource of NEW is refused.
 */
export async function diff(paths: readonly string[], options: DiffOptions): Promise<void> {
  const { output, domain, namespace } = options;
  if (!['text', 'json'].includes(output))
    throw new Fatal(`--output: '${output}' is neither text nor json`, exitCodes.usage);
  const [old, now, ...others] = paths;
  if (old === undefined || now === undefined || others.length > 0)
    throw new Fatal(`${paths.length} paths: name OLD and NEW`, exitCodes.usage);
  const named = options.proxy.map(proxyNamed);
  const { mesh, folders } = namedMesh(options.meshConfig);
  const { config, problems } = discoveryConfig({ domain }, process.env);
  if (problems.length > 0) throw new Fatal(problems.join('; '), exitCodes.usage);
  const storeOf = (path: string) => ({
    ...readPaths(givenPaths([path, ...folders]), namespace),
    mesh,
    fetchedKeys: noKeys,
  });
  const [before, after] = [storeOf(old), storeOf(now)];
  const pair = meshPair(before, after, config);
  const flaws = {
    old: placedFindings(flawFindings(before, pair.before.warnings)),
    new: placedFindings(flawFindings(after, pair.after.warnings)),
  };
  const lines = findingsText([...flaws.old, ...flaws.new]).split(/(?<=\n)/);
  process.stderr.write(printable([...new Set(lines)].join('')));
  for (const store of [before, after])
    for (const { lost } of store.sources.values())
      if (lost !== undefined) throw new Fatal(lost, exitCodes.config);
  const proxies = [...describedProxies(pair, domain), ...named];
  if (proxies.length === 0)
    throw new Fatal(
      'neither folder describes a proxy (by a Pod or a WorkloadEntry with an IP address, by such an endpoint of a ServiceEntry, or by the selector of a Gateway): name one by --proxy',
      exitCodes.usage,
    );
  await printDiff(boundedDiff(meshDiff(pair, proxies)), flaws.new, output);
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
      `the comparison is not complete, because NEW has what is refused: correct it first (${refused} above)`,
      exitCodes.config,
    );
  if (bounded.changed > 0) throw new Fatal('', changes);
}

function proxyNamed(text: string): ComparedProxy {
  const proxy = namedProxy(text);
  if (typeof proxy === 'string') throw new Fatal(`--proxy: ${proxy}`, exitCodes.usage);
  return proxy;
}
