import { asyncScheduler, type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';

/**
 * A scheduler of an event loop that does nothing in the times that are drawn, each from its `^` to
 * its `!`: what is due in one of them is done at its end.
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
