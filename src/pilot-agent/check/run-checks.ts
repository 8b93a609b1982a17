import { defer, firstValueFrom, forkJoin, map, of, timeout } from 'rxjs';
import type { Around } from './around.ts';
import { checkAuthority } from './authority-findings.ts';
import { checkCertificates } from './certificate-findings.ts';
import { checkConfiguration } from './configuration.ts';
import { checkControlPlane } from './control-plane-findings.ts';
import { checkEnvoy } from './envoy-binary.ts';
import { type Finding, findingsOf } from './finding.ts';
import { checkFolders } from './folders.ts';
import { checkKernel } from './kernel.ts';
import { checkLimits } from './limits.ts';
import { checkPorts } from './ports.ts';
import { checkAgent } from './running-agent.ts';
import { checkSharedMemory } from './shared-memory.ts';
import { checkToken } from './token.ts';
import { checkTools } from './tools.ts';

/** All checks, in the order of the report. */
const checks: Readonly<
  Record<string, (around: Around) => readonly Finding[] | Promise<readonly Finding[]>>
> = {
  agent: checkAgent,
  configuration: checkConfiguration,
  envoy: checkEnvoy,
  ports: checkPorts,
  folders: checkFolders,
  certificates: checkCertificates,
  'control plane': checkControlPlane,
  authority: checkAuthority,
  token: checkToken,
  limits: checkLimits,
  tools: checkTools,
  'shared memory': checkSharedMemory,
  kernel: checkKernel,
};

/** In ms: a disk may hang, and a server may not answer. */
const longest = 10_000;

/** Runs all checks at once, and resolves to their findings within 10 s. Rejects only for a bug. */
export function runChecks(around: Around): Promise<readonly Finding[]> {
  const results = Object.entries(checks).map(([name, check]) =>
    defer(async () => check(around)).pipe(
      timeout({ first: longest, with: () => of([unfinished(name)]) }),
    ),
  );
  return firstValueFrom(forkJoin(results).pipe(map((findings) => findings.flat())), {
    defaultValue: [],
  });
}

function unfinished(check: string): Finding {
  const what = `there is no result after ${longest / 1_000} s`;
  return findingsOf(check).warn(
    'check unfinished',
    what,
    'see whether a disk hangs, or the machine is very busy',
  );
}
