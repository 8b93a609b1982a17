export { agent, type AgentTransition, type Inputs } from './agent/agent.ts';
export type { World } from './agent/interpret.ts';
export type { Epoch, Stage } from './agent/epoch.ts';
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
} from './agent/model.ts';
export { narrate } from './agent/narrate.ts';
export type { EpochRecord } from './agent/timeline.ts';
export type {
  Additions,
  AdoptedEpoch,
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
} from './agent/ports.ts';
export type { Change, Reading } from './streams/reading.ts';
export type { RestartPolicy } from './agent/exits.ts';
export { newestEpoch } from './agent/lineage.ts';
export { reducer } from './agent/reducer.ts';
export { fixedTiming, type Timing } from './agent/timing.ts';
export type { LogEvent } from './log/log-event.ts';
export type { LogLine } from './log/log-line.ts';
export { coalesce } from './operators/coalesce.ts';
export { ofType } from './operators/tagged-union.ts';
export { reduceWithEffects, type Step, type Transition } from './operators/reduce-with-effects.ts';
export { settle, type Settled } from './operators/settle.ts';
export { composeSources } from './streams/config-source.ts';
export type { ConfigSource, SourceChange, SourcePart, SourceReading } from './streams/config-source.ts';
export { type ReadingDelays, readings } from './streams/readings.ts';
export { fileSource, hashFiles } from './streams/file-source.ts';
export { signals } from './streams/process-events.ts';
export { watchFiles } from './streams/watch-files.ts';
export type { Content, Contribution, ContributingSource, Use } from './sources/contribution.ts';
export { type Read, type ReadContext, source, type SourceOptions } from './sources/source.ts';
export type { Ms } from './sources/ms.ts';
export { compose } from './sources/compose.ts';
export { gated, mapped, polled, renamed, shared } from './sources/combinators.ts';
export { debounced, throttled } from './sources/pace.ts';
export { withFallback } from './sources/with-fallback.ts';
export { consul, type ConsulOptions, type ConsulWatch } from './sources/consul.ts';
export { files, type FilesOptions } from './sources/files.ts';
export type { OutsideProxy } from './http/outside-proxy.ts';
export { http, type HttpOptions } from './sources/http.ts';
export { kube, type KubeOptions, type KubeTarget } from './sources/kube.ts';
export type { SourceConfig } from './config/source-config.ts';
export { Fatal as AgentFailure } from './run/exit.ts';
export type { AgentSettings, Duration } from './config/agent-settings.ts';
export { type PilotAgent, pilotAgent, type PilotAgentOptions, type Readiness } from './run/pilot-agent.ts';
export type { FlagName } from './config/flags.ts';
export type { LogFlagName } from './config/log-flags.ts';
export type { Pauses } from './operators/back-off.ts';
