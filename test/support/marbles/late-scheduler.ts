import { asyncScheduler, type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';

/**
 * Returns a scheduler of an event loop that is blocked in the periods of the diagrams, each from
 * its `^` to its `!`. Work that is due in such a period is done at its end.
 */
export function lateScheduler(...diagrams: readonly string[]): SchedulerLike {
  const stalls = diagrams.map((diagram) =>
    TestScheduler.parseMarblesAsSubscriptions(diagram, true),
  );
  const late = (delay: number): number => {
    const due = asyncScheduler.now() + delay;
    const stall = stalls.find(
      ({ subscribedFrame, unsubscribedFrame }) => due >= subscribedFrame && due < unsubscribedFrame,
    );
    return stall === undefined ? delay : stall.unsubscribedFrame - asyncScheduler.now();
  };
  return {
    now: () => asyncScheduler.now(),
    schedule<T>(
      work: (this: SchedulerAction<T>, state?: T) => void,
      delay = 0,
      state?: T,
    ): Subscription {
      return asyncScheduler.schedule<T>(
        function (next) {
          const again = Object.assign(new Subscription(), {
            schedule: (more?: T, wait = 0) => this.schedule(more, late(wait)),
          });
          work.call(again, next);
        },
        late(delay),
        state,
      );
    },
  };
}
