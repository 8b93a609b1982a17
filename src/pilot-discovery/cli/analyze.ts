import { printable } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { print } from '../../shared/program/print.ts';
import { analysisOf } from '../analyze/analysis.ts';
import { findingKinds } from '../analyze/finding.ts';
import { findingsJson, findingsText } from '../analyze/show-findings.ts';
import { readPaths } from '../registry/files/read-paths.ts';
import { discoveryConfig, type ServiceRegistry } from '../run/discovery-config.ts';
import { namedMesh } from '../run/named-settings.ts';
import { givenPaths } from './given-paths.ts';
import { placedFindings } from './placed-findings.ts';

/** The exit code if there is an error; warnings alone are 0. */
const hasErrors = 1;

export interface AnalyzeOptions {
  readonly output: string;
  readonly domain: string;
  readonly meshConfig?: string;
  /** `--registries`, as it is given. */
  readonly registries?: string;
}

/** Returns the domain of the hosts of a registry. */
const domainOf: Readonly<Record<ServiceRegistry, (domain: string) => string>> = {
  Kubernetes: (domain) => `svc.${domain}`,
  Consul: () => 'service.consul',
};

/**
 * `pilot-discovery analyze PATH…`: prints what is wrong with the resources of files and folders,
 * a line for each. Rejects with a {@link Fatal}: without a message and with 1 if one of them is an
 * error, with 64 for a path that is not there, with 78 for a MeshConfig that is wrong.
 */
export async function analyze(
  paths: readonly string[],
  { output, domain, meshConfig, registries }: AnalyzeOptions,
): Promise<void> {
  if (!['text', 'json'].includes(output))
    throw new Fatal(`--output: '${output}' is neither text nor json`, exitCodes.usage);
  const { config, problems } = discoveryConfig(registries === undefined ? {} : { registries }, {});
  if (problems.length > 0) throw new Fatal(problems.join('; '), exitCodes.usage);
  const { mesh, flaws, folders } = namedMesh(meshConfig);
  const store = readPaths(givenPaths([...paths, ...folders]), 'default');
  const domainsElsewhere = (config.registries ?? []).map((name) => domainOf[name](domain));
  const findings = placedFindings(
    analysisOf(store, {
      domain,
      mesh: meshConfig === undefined ? undefined : { mesh, flaws },
      domainsElsewhere,
    }),
  );
  await print(output === 'json' ? findingsJson(findings) : printable(findingsText(findings)));
  if (findings.some(({ code }) => findingKinds[code].level === 'error'))
    throw new Fatal('', hasErrors);
}
