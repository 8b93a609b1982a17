import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** Returns a machine whose clock is set by `by` ms once `time` ms have passed. */
export function clockSetAt(time: number, by: number): SchedulerLike {
  const now = () => asyncScheduler.now() + (asyncScheduler.now() > time ? by : 0);
  return { now, schedule: asyncScheduler.schedule.bind(asyncScheduler) };
}
