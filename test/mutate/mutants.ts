import { admin } from './mutants/admin.ts';
import { agent } from './mutants/agent.ts';
import { analyze } from './mutants/analyze.ts';
import { bootstrap } from './mutants/bootstrap.ts';
import { ca } from './mutants/ca.ts';
import { cli } from './mutants/cli.ts';
import { config } from './mutants/config.ts';
import { discoveryCa } from './mutants/discovery-ca.ts';
import { envoy } from './mutants/envoy.ts';
import { generate } from './mutants/generate.ts';
import { grpc } from './mutants/grpc.ts';
import { identity } from './mutants/identity.ts';
import { kube } from './mutants/kube.ts';
import { log } from './mutants/log.ts';
import { mcp } from './mutants/mcp.ts';
import { node } from './mutants/node.ts';
import { operators } from './mutants/operators.ts';
import { proxy } from './mutants/proxy.ts';
import { push } from './mutants/push.ts';
import { refusal } from './mutants/refusal.ts';
import { revocation } from './mutants/revocation.ts';
import { run } from './mutants/run.ts';
import { sds } from './mutants/sds.ts';
import { secrets } from './mutants/secrets.ts';
import { sources } from './mutants/sources.ts';
import { status } from './mutants/status.ts';
import { streams } from './mutants/streams.ts';
import { sts } from './mutants/sts.ts';
import { terminal } from './mutants/terminal.ts';
import { tracing } from './mutants/tracing.ts';
import { workloadSocket } from './mutants/workload-socket.ts';
import { xds } from './mutants/xds.ts';
import type { PlacedMutant } from './mutant.ts';

/** All placed mutants, by the folder that each belonged to when it was written. */
export const mutants: readonly PlacedMutant[] = [
  ...admin,
  ...agent,
  ...analyze,
  ...bootstrap,
  ...ca,
  ...cli,
  ...config,
  ...discoveryCa,
  ...envoy,
  ...generate,
  ...grpc,
  ...identity,
  ...kube,
  ...log,
  ...mcp,
  ...node,
  ...operators,
  ...proxy,
  ...push,
  ...refusal,
  ...revocation,
  ...run,
  ...sds,
  ...secrets,
  ...sources,
  ...status,
  ...streams,
  ...sts,
  ...terminal,
  ...tracing,
  ...workloadSocket,
  ...xds,
];
