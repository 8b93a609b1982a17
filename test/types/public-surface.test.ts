import {
  EMPTY,
  type MonoTypeOperatorFunction,
  NEVER,
  type Observable,
  of,
  type OperatorFunction,
  type SchedulerLike,
  Subject,
} from 'rxjs';
import { expectTypeOf, it } from 'vitest';
import {
  agent,
  type AgentEvent,
  type AgentState,
  type AgentTransition,
  type Claim,
  coalesce,
  composeSources,
  readings,
  type ConfigSource,
  type Effect,
  type Exit,
  fileSource,
  fixedTiming,
  hashFiles,
  initialState,
  type Inputs,
  type LogEvent,
  type LogLine,
  narrate,
  ofType,
  type Outcome,
  type ProcessEvent,
  type Proxy,
  type EpochConfig,
  type Reading,
  reducer,
  reduceWithEffects,
  type RestartPolicy,
  settle,
  type Settled,
  signals,
  type SourceChange,
  type Step,
  type Timing,
  type Transition,
  type Health,
  watchFiles,
  type World,
} from '../../src/index.ts';

// The compiler decides here. At run time these tests only build streams without subscribers.

it('an agent is made of inputs, a policy and a world, and is a stream of transitions', () => {
  expectTypeOf(agent).parameters.toEqualTypeOf<[Inputs, RestartPolicy, World]>();
  expectTypeOf(agent).returns.toEqualTypeOf<Observable<AgentTransition>>();
  expectTypeOf<AgentTransition>().toEqualTypeOf<Transition<AgentState, AgentEvent>>();
  expectTypeOf<keyof Inputs>().toEqualTypeOf<
    | 'adopted$'
    | 'config$'
    | 'resources$'
    | 'restart$'
    | 'drain$'
    | 'reopen$'
    | 'leave$'
    | 'terminate$'
  >();
  expectTypeOf<World['scheduler']>().toEqualTypeOf<SchedulerLike | undefined>();
});

it('the reducer answers a state and an event with a state and effects', () => {
  expectTypeOf(reducer).parameters.toEqualTypeOf<[RestartPolicy]>();
  expectTypeOf(reducer).returns.toEqualTypeOf<
    (state: AgentState, event: AgentEvent) => Step<AgentState, Effect>
  >();
  expectTypeOf(initialState).toExtend<AgentState>();
  expectTypeOf<RestartPolicy['onCrash']>().toEqualTypeOf<'backoff' | 'exit'>();
  // @ts-expect-error a state is never changed in place
  const assign = (state: AgentState) => (state.lastEpoch = 7);
  expectTypeOf(assign).toBeFunction();
  expectTypeOf<AgentState['epochs']>().not.toHaveProperty('set');
});

it('a narrated line has a level, a constant text and fields', () => {
  expectTypeOf(narrate).parameter(0).toEqualTypeOf<AgentTransition>();
  expectTypeOf<ReturnType<typeof narrate>[number]>().toEqualTypeOf<LogLine>();
  expectTypeOf<LogLine['level']>().toEqualTypeOf<
    'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'
  >();
  expectTypeOf<LogLine['event']>().toEqualTypeOf<LogEvent>();
});

it('ends and outcomes are told apart by their kind', () => {
  expectTypeOf<Exit['kind']>().toEqualTypeOf<
    'clean' | 'failed' | 'signaled' | 'spawn-failed' | 'unknown'
  >();
  expectTypeOf<Outcome['kind']>().toEqualTypeOf<
    'asked' | 'envoy' | 'refused' | 'address-taken' | 'address-denied'
  >();
  expectTypeOf<Extract<Exit, { kind: 'failed' }>['code']>().toBeNumber();
});

it('the fixed figures and those of the flags make a whole timing', () => {
  const timing = { ...fixedTiming, parentShutdown: 60_000, drainMinimum: 5_000, drainCap: 5_000 };
  expectTypeOf(timing).toExtend<Timing>();
  expectTypeOf(fixedTiming).not.toExtend<Timing>();
});

it('a proxy of one’s own gives all six of its answers as streams, and may check ahead', () => {
  const proxy: Proxy = {
    run: () => of<ProcessEvent>({ type: 'spawned', pid: 1 }),
    health: () => of<Health>('live'),
    publishAdmin: () => EMPTY,
    check: () => of({ kind: 'works' }),
    drain: () => NEVER,
    active: () => of(undefined),
  };
  expectTypeOf(proxy.active(0)).toEqualTypeOf<Observable<number | undefined>>();
  expectTypeOf<keyof Proxy>().toEqualTypeOf<
    'run' | 'health' | 'publishAdmin' | 'check' | 'drain' | 'active' | 'checkAhead'
  >();
  expectTypeOf<Proxy['checkAhead']>().toEqualTypeOf<
    ((reading: Reading<EpochConfig>) => Observable<never>) | undefined
  >();
  // @ts-expect-error a verdict against a configuration has a reason
  const silent: Proxy = { ...proxy, check: () => of({ ok: false }) };
  expectTypeOf(silent).toEqualTypeOf<Proxy>();
});

it('a claim is only when the agent runs, an outcome only when it ends', () => {
  expectTypeOf<Extract<AgentState, { phase: 'running' }>>().toHaveProperty('claim');
  expectTypeOf<Exclude<AgentState, { phase: 'running' }>>().not.toHaveProperty('claim');
  expectTypeOf<
    Extract<AgentState, { phase: 'stopping' | 'stopped' }>['outcome']
  >().toEqualTypeOf<Outcome>();
  expectTypeOf<Extract<AgentState, { phase: 'running' | 'draining' }>>().not.toHaveProperty(
    'outcome',
  );
  expectTypeOf<Extract<Claim, { stage: 'waiting' }>>().not.toHaveProperty('standalone');
});

it('a source is its changes and its reading', () => {
  expectTypeOf<keyof ConfigSource>().toEqualTypeOf<'changes$' | 'reading$'>();
  expectTypeOf<SourceChange['type']>().toEqualTypeOf<
    'ready' | 'changed' | 'watch-failed' | 'source-read' | 'source-unreadable'
  >();
  expectTypeOf(fileSource).returns.toEqualTypeOf<ConfigSource<never>>();
  expectTypeOf(composeSources(fileSource([]), fileSource([]))).toEqualTypeOf<ConfigSource<never>>();
  expectTypeOf(readings(fileSource([]), { minDelay: 1 })).toEqualTypeOf<
    Observable<Reading<undefined>>
  >();
  expectTypeOf(hashFiles).returns.toEqualTypeOf<Observable<string>>();
  expectTypeOf(watchFiles).returns.toEqualTypeOf<Observable<SourceChange>>();
  // @ts-expect-error a trigger is one of the three, not a bare value
  void composeSources({ changes$: of(1), reading$: NEVER });
});

it('signals are known to the system', () => {
  expectTypeOf(signals(['SIGTERM'])).toEqualTypeOf<Observable<NodeJS.Signals>>();
  // @ts-expect-error there is no such signal
  void signals(['SIGNONSENSE']);
});

it('ofType narrows to the members that carry the type', () => {
  const events$ = new Subject<AgentEvent>();
  expectTypeOf(events$.pipe(ofType('epoch-exited'))).toEqualTypeOf<
    Observable<Extract<AgentEvent, { readonly type: 'epoch-exited' }>>
  >();
  // @ts-expect-error no event has that type
  void events$.pipe(ofType('epoch-lost'));
});

it('the operators keep the types of what flows', () => {
  expectTypeOf(coalesce<number>(10)).toEqualTypeOf<MonoTypeOperatorFunction<number>>();
  expectTypeOf(settle<number>()).toEqualTypeOf<OperatorFunction<number, Settled<number>>>();
  const count = (state: number, event: 'up' | 'down'): Step<number, 'beep'> => [
    event === 'up' ? state + 1 : state - 1,
    ['beep'],
  ];
  expectTypeOf(reduceWithEffects(0, count, () => NEVER)).toEqualTypeOf<
    OperatorFunction<'up' | 'down', Transition<number, 'up' | 'down'>>
  >();
});
