import { concat, defer, EMPTY, type Observable, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type Life, type Span, Stage, type World } from './stage.ts';

/** A trial of a proxy. Its Observable completes if the proxy passes, and errors if it fails. */
interface Trial {
  in(world: World): Observable<unknown>;
}

/**
 * Makes a world whose processes have this life, subscribes to the trial in it, and fails if the
 * trial errors.
 */
export type Perform = (life: Life, trial: Trial) => Promise<void> | void;

interface Promised {
  readonly name: string;
  readonly life?: Life;
  /** Returns the steps, one after the other. */
  readonly done: (stage: Stage) => readonly Observable<unknown>[];
  /** The log of these steps, in order. */
  readonly observed: readonly string[];
}

/** The time that a process takes for each step, if the machine has nothing else to do. */
const times: Readonly<Record<string, Span>> = {
  launch: { is: 'about', ms: 100 },
  child: { is: 'about', ms: 100 },
  SIGTERM: { is: 'below', ms: 100 },
  SIGKILL: { is: 'below', ms: 100 },
  check: { is: 'below', ms: 250 },
};

const promises: readonly Promised[] = [
  ...(['run', 'health', 'publishAdmin', 'check', 'drain', 'active'] as const).map(
    (what): Promised => ({
      name: `${what} does nothing before it is subscribed to`,
      done: (s) => [s.unsubscribed(what), s.count()],
      observed: ['0 processes'],
    }),
  ),
  {
    name: 'run tells that the process exists, then how it ended, and completes',
    done: (s) => [
      s.launch(0),
      s.spawned(0),
      s.until(0, 'live'),
      s.count(),
      s.signal(0, 'SIGTERM'),
      s.ended(0),
      s.left(0),
    ],
    observed: ['0 spawned', '0 live', '1 processes', '0 exited: clean', '0 completed', '0 left'],
  },
  {
    name: 'run tells of an end that nobody asked for: a clean one',
    life: 'ends cleanly by itself',
    done: (s) => [s.launch(0), s.spawned(0), s.ended(0)],
    observed: ['0 spawned', '0 exited: clean', '0 completed'],
  },
  {
    name: 'run tells of an end that nobody asked for: a signal',
    life: 'is killed by somebody else',
    done: (s) => [s.launch(0), s.spawned(0), s.ended(0)],
    observed: ['0 spawned', '0 exited: signaled SIGKILL', '0 completed'],
  },
  {
    name: 'run tells with which code a process failed, and its last words',
    life: 'fails for want of key.pem',
    done: (s) => [s.launch(0), s.spawned(0), s.ended(0)],
    observed: ['0 spawned', '0 exited: failed 1, says key.pem', '0 completed'],
  },
  {
    name: 'run tells which address was taken',
    life: 'finds its port taken',
    done: (s) => [s.launch(0), s.spawned(0), s.ended(0)],
    observed: ['0 spawned', '0 exited: failed 1, address taken', '0 completed'],
  },
  {
    name: 'run tells of a process that can not be started as of any other end',
    life: 'can not be started',
    done: (s) => [s.launch(0), s.ended(0), s.left(0)],
    observed: ['0 exited: spawn-failed, in one line', '0 completed', '0 left'],
  },
  {
    name: 'a process can be launched after one that could not',
    life: 'fails for want of key.pem',
    done: (s) => [s.launch(0), s.ended(0), s.launch(1, 0), s.ended(1)],
    observed: [
      '0 exited: failed 1, says key.pem',
      '0 completed',
      '1 exited: failed 1, says key.pem',
      '1 completed',
    ],
  },
  {
    name: 'SIGKILL: the end is still emitted',
    done: (s) => [s.launch(0), s.until(0, 'live'), s.signal(0, 'SIGKILL'), s.ended(0)],
    observed: ['0 live', '0 exited: signaled SIGKILL', '0 completed'],
  },
  {
    name: 'SIGKILL ends what does not heed SIGTERM',
    done: (s) => [
      ...[
        s.launch(0),
        s.until(0, 'live'),
        s.freeze(0),
        s.signal(0, 'SIGTERM'),
        s.stays(0),
        s.count(),
      ],
      ...[s.signal(0, 'SIGKILL'), s.ended(0)],
    ],
    observed: [
      '0 live',
      '0 stays unresponsive',
      '1 processes',
      '0 exited: signaled SIGKILL',
      '0 completed',
    ],
  },
  {
    name: 'SIGUSR1 ends nothing',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.signal(0, 'SIGUSR1'),
      s.stays(0),
      s.signal(0, 'SIGTERM'),
      s.ended(0),
    ],
    observed: ['0 live', '0 stays live', '0 exited: clean', '0 completed'],
  },
  {
    name: 'a signal that is there from the start is sent',
    done: (s) => [s.launch(0, 0, of('SIGKILL' as const)), s.ended(0)],
    observed: ['0 exited: signaled SIGKILL', '0 completed'],
  },
  {
    name: 'a process outlives the end of its signals',
    done: (s) => [s.launch(0, 0, EMPTY), s.until(0, 'live'), s.stays(0), s.count()],
    observed: ['0 live', '0 stays live', '1 processes'],
  },
  {
    name: 'unsubscribing ends the process within a second, unreported',
    done: (s) => [s.launch(0), s.until(0, 'live'), s.leave(0), s.left(0), s.health(0)],
    observed: ['0 live', '0 left', 'health: unknown, completed'],
  },
  {
    name: 'unsubscribing ends a process that has only just been started',
    done: (s) => [s.launch(0), s.leave(0), s.left(0)],
    observed: ['0 left'],
  },
  {
    name: 'unsubscribing ends a process that heeds nothing',
    done: (s) => [s.launch(0), s.until(0, 'live'), s.freeze(0), s.leave(0), s.left(0)],
    observed: ['0 live', '0 left'],
  },
  {
    name: 'unsubscribing from a child leaves its parent alone',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.launch(1),
      s.spawned(1),
      s.leave(1),
      s.left(1),
      s.signal(0, 'SIGTERM'),
      s.ended(0),
    ],
    observed: ['0 live', '1 spawned', '1 left', '0 exited: clean', '0 completed'],
  },
  {
    name: 'two subscriptions are two processes, each with an end of its own',
    done: (s) => [
      s.launch(0),
      s.again(0),
      s.count(),
      s.leave('0 again'),
      s.signal(0, 'SIGKILL'),
      s.ended(0),
      s.left(0),
    ],
    observed: ['2 processes', '0 exited: signaled SIGKILL', '0 completed', '0 left'],
  },
  {
    name: 'the end of one subscription leaves the process of the other alone',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.again(0),
      s.count(),
      s.leave('0 again'),
      s.left(1),
      s.until(0, 'live'),
    ],
    observed: ['0 live', '2 processes', '1 left', '0 live'],
  },
  {
    name: 'health are unknown before the first process, and after the last',
    done: (s) => [
      s.health(0),
      s.launch(0),
      s.until(0, 'live'),
      s.health(0),
      s.signal(0, 'SIGTERM'),
      s.ended(0),
      s.health(0),
    ],
    observed: [
      ...['health: unknown, completed', '0 live', 'health: live, completed'],
      ...['0 exited: clean', '0 completed', 'health: unknown, completed'],
    ],
  },
  {
    name: 'health are unknown without an admin endpoint',
    life: 'has no admin endpoint',
    done: (s) => [
      s.launch(0),
      s.serves(),
      s.health(0),
      s.active(),
      s.drain('close'),
      s.drain('graceful'),
      s.signal(0, 'SIGTERM'),
      s.ended(0),
    ],
    observed: [
      ...[
        'health: unknown, completed',
        'active: undefined, completed',
        'drain: completed',
        'drain: completed',
      ],
      ...['0 exited: clean', '0 completed'],
    ],
  },
  {
    name: 'health is unresponsive while a process hangs, and live again when it goes on',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.freeze(0),
      s.health(0),
      s.thaw(0),
      s.until(0, 'live'),
    ],
    observed: ['0 live', 'health: unresponsive, completed', '0 live'],
  },
  {
    name: 'health are up, not live, when the process says so of itself',
    done: (s) => [s.launch(0), s.until(0, 'live'), s.sicken(), s.health(0)],
    observed: ['0 live', 'health: up, completed'],
  },
  {
    name: 'health of an epoch are not live as long as only its parent answers',
    done: (s) => [
      ...[s.launch(0), s.until(0, 'live'), s.stays(1), s.launch(1), s.freeze(1), s.stays(1)],
      ...[s.thaw(1), s.until(1, 'live'), s.signal(0, 'SIGTERM'), s.ended(0), s.health(1)],
    ],
    observed: [
      '0 live',
      '1 stays unknown',
      '1 stays up',
      '1 live',
      '0 exited: clean',
      '0 completed',
      'health: live, completed',
    ],
  },
  {
    name: 'health of an epoch that has ended is unknown, though its child answers',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.launch(1),
      s.until(1, 'live'),
      s.signal(0, 'SIGTERM'),
      s.ended(0),
      s.stays(0),
    ],
    observed: ['0 live', '1 live', '0 exited: clean', '0 completed', '0 stays unknown'],
  },
  {
    name: 'health of a second first process are its own',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.signal(0, 'SIGKILL'),
      s.ended(0),
      s.health(1),
      s.launch(1, 0),
      s.until(1, 'live'),
    ],
    observed: [
      '0 live',
      '0 exited: signaled SIGKILL',
      '0 completed',
      'health: unknown, completed',
      '1 live',
    ],
  },
  {
    name: 'a parent ends by itself, its time after its child is LIVE; the child stays',
    life: 'is told to end 3 s after its child is LIVE',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.launch(1),
      s.until(1, 'live'),
      s.takes(3_000, s.ended(0)),
      s.stays(1),
    ],
    observed: ['0 live', '1 live', '0 exited: clean', '0 completed', '3 s', '1 stays live'],
  },
  {
    name: 'a child that ends in order tells its parent to end',
    done: (s) => [
      ...[
        s.launch(0),
        s.until(0, 'live'),
        s.launch(1),
        s.until(1, 'live'),
        s.signal(1, 'SIGTERM'),
        s.ended(1),
        s.ended(0),
      ],
      s.inNoOrder(),
    ],
    observed: [
      '0 completed',
      '0 exited: clean',
      '0 live',
      '1 completed',
      '1 exited: clean',
      '1 live',
    ],
  },
  {
    name: 'a process, and its child, is LIVE about 100 ms after its launch, and does at once what it is told',
    done: (s) => [
      s.timedUntilRight(times, () => [
        ...[
          s.launch(0),
          s.timed('launch', s.until(0, 'live')),
          s.launch(1),
          s.timed('child', s.until(1, 'live')),
        ],
        ...[
          s.signal(1, 'SIGTERM'),
          s.timed('SIGTERM', s.ended(1)),
          s.ended(0),
          s.launch(0),
          s.until(0, 'live'),
        ],
        ...[
          s.signal(0, 'SIGKILL'),
          s.timed('SIGKILL', s.ended(0)),
          s.timed('check', s.check()),
          s.forgotten(),
        ],
      ]),
    ],
    observed: [
      ...['launch: about 100 ms', 'child: about 100 ms'],
      ...['SIGTERM: below 100 ms', 'SIGKILL: below 100 ms', 'check: below 250 ms'],
    ],
  },
  {
    name: 'check accepts what a process can start from, and refuses what it can not, with a reason',
    done: (s) => [s.check(), s.spoil(), s.check(), s.check(), s.count()],
    observed: [
      'check: accepted, completed',
      'check: refused in one line, completed',
      'check: refused in one line, completed',
      '0 processes',
    ],
  },
  {
    name: 'check does not touch a running process',
    done: (s) => [
      ...[s.launch(0), s.until(0, 'live'), s.check(), s.stays(0), s.spoil(), s.check(), s.stays(0)],
      ...[s.serves(), s.signal(0, 'SIGTERM'), s.ended(0)],
    ],
    observed: [
      ...[
        '0 live',
        'check: accepted, completed',
        '0 stays live',
        'check: refused in one line, completed',
        '0 stays live',
      ],
      ...['0 exited: clean', '0 completed'],
    ],
  },
  {
    name: 'check leaves nothing behind when it is given up',
    done: (s) => [s.giveUpCheck(), s.left(0)],
    observed: ['0 left'],
  },
  {
    name: 'drain completes without a process',
    done: (s) => [s.drain('close'), s.drain('graceful')],
    observed: ['drain: completed', 'drain: completed'],
  },
  {
    name: 'a graceful drain goes on serving',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.drain('graceful'),
      s.serves(),
      s.stays(0),
      s.signal(0, 'SIGTERM'),
      s.ended(0),
    ],
    observed: ['0 live', 'drain: completed', '0 stays live', '0 exited: clean', '0 completed'],
  },
  {
    name: 'another drain turns clients away, and ends nothing',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.drain('close'),
      s.refuses(),
      s.stays(0),
      s.signal(0, 'SIGTERM'),
      s.ended(0),
    ],
    observed: ['0 live', 'drain: completed', '0 stays live', '0 exited: clean', '0 completed'],
  },
  {
    name: 'drain and active complete when the process hangs',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.freeze(0),
      s.drain('close'),
      s.drain('graceful'),
      s.active(),
    ],
    observed: ['0 live', 'drain: completed', 'drain: completed', 'active: undefined, completed'],
  },
  {
    name: 'active counts what is in flight',
    done: (s) => [
      s.launch(0),
      s.until(0, 'live'),
      s.active(),
      s.ask(),
      s.active(),
      s.ask(),
      s.active(),
      s.answer(),
      s.untilIdle(),
    ],
    observed: [
      '0 live',
      'active: 0, completed',
      'active: 1, completed',
      'active: 2, completed',
      'idle',
    ],
  },
  {
    name: 'active is undefined before the first process, and after the last',
    done: (s) => [
      s.active(),
      s.launch(0),
      s.until(0, 'live'),
      s.active(),
      s.signal(0, 'SIGTERM'),
      s.ended(0),
      s.active(),
    ],
    observed: [
      ...['active: undefined, completed', '0 live', 'active: 0, completed'],
      ...['0 exited: clean', '0 completed', 'active: undefined, completed'],
    ],
  },
];

/**
 * Tests the promises of `Proxy`: all of them, or those whose name matches `meant`. After each
 * promise no process is left, nor anything of one.
 */
export function proxyContract(perform: Perform, meant = /(?:)/): void {
  describe('the contract of a proxy', () => {
    it.each(
      promises
        .filter(({ name }) => meant.test(name))
        .map((promised) => [promised.name, promised] as const),
    )('%s', async (_, { life = 'serves', done, observed }) => {
      await perform(life, {
        in(world) {
          const stage = new Stage(world);
          return concat(
            ...done(stage),
            defer(() => {
              expect(stage.log).toEqual(observed);
              return stage.cleared();
            }),
          );
        },
      });
    });
  });
}
