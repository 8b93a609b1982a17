import { debug, error, info, passedOn, warn } from './sentence.ts';

/** The events of an agent's Envoys. */
export const epochEvents = {
  /** Someone requests a hot restart. */
  'restart.requested': info('restart requested'),
  /** Envoy has crashed, and is started again after a pause: attempt `attempt` of `of`. */
  'restart.scheduled': warn('Envoy is started again after a pause'),
  /** Someone asks Envoy to drain. The agent goes on. */
  'drain.requested': info('asked to drain: the agent goes on'),
  /** The drain of a termination is over. */
  'drain.ended': {
    drained: info('drained'),
    cut: warn('drain time is over: requests in flight are cut'),
    unknown: warn('drain time is over: the agent does not know what is still in flight'),
  },
  /** Someone asks the agent to end. */
  'termination.requested': {
    plain: info('asked to end'),
    draining: info('asked to end: draining'),
    drained: info('asked to end: Envoy has drained already'),
    cutShort: info('asked to end again: the drain is cut short'),
    killed: info('asked to end again: Envoy is killed'),
  },
  /** A new epoch is prepared. */
  'epoch.claimed': debug('new epoch is prepared'),
  /** The new epoch is no longer needed. */
  'epoch.withdrawn': info('the new epoch is no longer needed'),
  /** The Envoy of an epoch was started. The level is debug while another one serves. */
  'epoch.started': { alone: info('Envoy started'), beside: debug('Envoy started') },
  /** The Envoy of an epoch could not be started. */
  'epoch.not_started': error('Envoy could not be started'),
  /** An epoch is LIVE and serves. The epochs in `draining` take no more new clients. */
  'epoch.live': info('epoch is LIVE'),
  /** An epoch is not LIVE in time. The next one no longer waits. */
  'epoch.not_live': warn('the epoch before is not LIVE after 20 s: the next one starts'),
  /** A new epoch waits for resources of the control plane. The old one serves. */
  'epoch.awaits_resources': warn(
    'new epoch waits for its configuration: the old one serves meanwhile',
  ),
  /**
   * A new epoch has waited too long for its configuration. It is killed, and the old one serves.
   */
  'epoch.late': warn(
    'new epoch waits for its configuration for 20 s: it is killed, and the old one serves',
  ),
  /** The admin endpoint of an epoch does not answer. The agent is not ready. */
  'epoch.unresponsive': warn('the admin endpoint is silent: not ready'),
  /** The admin endpoint of an epoch answers again. */
  'epoch.answering': info('the admin endpoint answers again'),
  /** The Envoy of an epoch hangs. It is killed. */
  'epoch.hung': error('Envoy hangs: it is killed'),
  /** An epoch has no more clients. It ends. */
  'epoch.handed_off': info('the epoch has no more clients: it ends'),
  /** An epoch does not answer and cannot be drained. It is killed. */
  'epoch.not_drained': warn('epoch does not answer and cannot be drained: it is killed'),
  /** An epoch has ended without a failure. */
  'epoch.ended': {
    ended: info('epoch ended'),
    drained: info('epoch has drained and ended'),
    asked: info('epoch was ended'),
  },
  /** An epoch has ended while its child still needs it. */
  'epoch.ended_early': warn('epoch ended before its time: its child cannot go on without it'),
  /** An epoch has failed. */
  'epoch.failed': error('epoch failed'),
  /** An epoch that failed is tried again at once. */
  'epoch.retried': warn('the epoch is tried again at once'),
  /** A hot restart is impossible. The new epoch starts without a parent. */
  'epoch.standalone': warn('a hot restart is impossible: the epoch starts without a parent'),
  /** Memory has no room for two Envoys. The old epoch ends before the new one starts. */
  'epoch.no_room': warn(
    'there is no room for two Envoys: the old epoch is drained and ends before the new one starts',
  ),
  /** An Envoy that an earlier agent left is adopted. */
  'epoch.adopted': info('an Envoy of an earlier agent is adopted'),
  /** An Envoy continues to serve without the agent. */
  'epoch.left': info('Envoy continues to serve without the agent'),
  /** No Envoy serves or comes up. One is started at once. */
  'rescue.unserved': warn('no Envoy serves: one is started at once'),
  /** The new epoch comes up side by side with the old one. */
  'rescue.started': warn('rescue: the new epoch comes up beside the old one'),
  /** A message of Envoy itself. */
  'envoy.log': passedOn,
  /** The running Envoy cannot be a parent: another hot restart version, or abstract sockets. */
  'envoy.replaced': warn(
    'the running Envoy cannot be a parent: it has another hot restart version, or abstract sockets',
  ),
  /** The agent does not support the release of the running Envoy. */
  'envoy.unsupported': warn(
    (releases: string) => `the agent is not made for this release of Envoy: use one of ${releases}`,
  ),
  /** An Envoy of an agent that is gone is killed. */
  'envoy.orphan_killed': warn('an Envoy of an agent that is gone is killed'),
  /** An Envoy cannot be recorded for the next agent, which will kill it. */
  'envoy.not_recorded': warn('this Envoy cannot be recorded: the next agent will kill it'),
};
