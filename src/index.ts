export { agent, type AgentTransition, type Inputs } from './epochs/agent.ts';
export type { World } from './epochs/interpret.ts';
export type { Epoch, Stage } from './epochs/epoch.ts';
export {
  type AgentEvent,
  type AgentState,
  type AwaitedParent,
  type Claim,
  claimOf,
  type ConfigEvent,
  type Draining,
  type Effect,
  type Ending,
  initialState,
  type Outcome,
  type Running,
} from './epochs/model.ts';
export { narrate } from './epochs/narrate.ts';
export type { EpochRecord } from './epochs/timeline.ts';
export type {
  Acceptance,
  Additions,
  AdoptedEpoch,
  Drain,
  EpochConfig,
  Exit,
  Health,
  Launch,
  Overlay,
  ProcessEvent,
  Proxy,
  Refusal,
  Signal,
  Verdict,
} from './epochs/ports.ts';
export type { Change, Reading } from './streams/reading.ts';
export type { RestartPolicy } from './epochs/exits.ts';
export { newestEpoch } from './epochs/lineage.ts';
export { reducer } from './epochs/reducer.ts';
export { fixedTiming, type Timing } from './epochs/timing.ts';
export type { LogEvent } from './shared/log/log-event.ts';
export type { LogLine } from './shared/log/log-line.ts';
export { coalesce } from './operators/coalesce.ts';
export { ofType } from './operators/tagged-union.ts';
export { reduceWithEffects, type Step, type Transition } from './operators/reduce-with-effects.ts';
export { settle, type Settled } from './operators/settle.ts';
export { composeSources } from './streams/config-source.ts';
export type {
  ConfigSource,
  SourceChange,
  SourcePart,
  SourceReading,
} from './streams/config-source.ts';
export { type ReadingDelays, readings } from './streams/readings.ts';
export { fileSource, hashFiles } from './streams/file-source.ts';
export { signals } from './streams/process-events.ts';
export { watchFiles } from './streams/watch-files.ts';
export type {
  Content,
  Contribution,
  ContributingSource,
  Use,
} from './pilot-agent/sources/contribution.ts';
export {
  type Read,
  type ReadContext,
  source,
  type SourceOptions,
} from './pilot-agent/sources/source.ts';
export type { Ms } from './pilot-agent/sources/ms.ts';
export { compose } from './pilot-agent/sources/compose.ts';
export { gated, mapped, polled, renamed, shared } from './pilot-agent/sources/combinators.ts';
export { debounced, throttled } from './pilot-agent/sources/pace.ts';
export { withFallback } from './pilot-agent/sources/with-fallback.ts';
export { consul, type ConsulOptions, type ConsulWatch } from './pilot-agent/sources/consul.ts';
export { files, type FilesOptions } from './pilot-agent/sources/files.ts';
export type { OutsideProxy } from './shared/http/outside-proxy.ts';
export { http, type HttpOptions } from './pilot-agent/sources/http.ts';
export { kube, type KubeOptions, type KubeTarget } from './pilot-agent/sources/kube.ts';
export type { SourceConfig } from './pilot-agent/config/source-config.ts';
export { Fatal as AgentFailure } from './shared/program/exit.ts';
export type { AgentSettings, Duration } from './pilot-agent/config/agent-settings.ts';
export {
  type PilotAgent,
  pilotAgent,
  type PilotAgentOptions,
  type Readiness,
} from './pilot-agent/run/pilot-agent.ts';
export type { FlagName } from './pilot-agent/config/flags.ts';
export type { LogFlagName } from './shared/log/log-flags.ts';
export type { Pauses } from './operators/back-off.ts';
