import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { certificateFiles, writeCertificates } from '../../demo/certificates.ts';
import { servedSerial } from '../../demo/served-serial.ts';
import { backOff } from '../../src/operators/back-off.ts';
import { makeRig, type RunningAgent } from '../support/e2e/rig.ts';
import { eventually } from '../support/eventually.ts';
import { startLoad } from '../support/load.ts';
import { type ChaosEvent, type ChaosKind, plan } from './plan.ts';
import { checkerOf, envoysOf, needsOf, setStage } from './stage.ts';

export interface Chaos {
  readonly seed: number;
  readonly events: number;
  /** The number of events of the seed that earlier runs played. */
  readonly skipped?: number;
  /** No event begins after this time. In ms. */
  readonly duration?: number;
  /** Whether an attacker runs beside the agent. */
  readonly hostile?: boolean;
  readonly onEvent?: (text: string) => void;
}

export interface ChaosReport {
  /** Things that should never happen, in words. */
  readonly violations: readonly string[];
  readonly minutes: number;
  readonly events: number;
  readonly requests: number;
  /**
   * The number of failed requests that are excused: chaos had killed or stopped an Envoy or the
   * agent, or had put a bad file on disk while an Envoy started.
   */
  readonly excused: number;
  readonly epochs: number;
  readonly rescues: number;
  /**
   * In ms: the longest time from `epoch.standalone`, when a hot restart is impossible, until the
   * epoch is LIVE.
   */
  readonly longestRescue: number;
  /**
   * In ms: the longest time without an answer after each kind of event. It begins when the agent
   * can act, and does not include the pauses of a crash loop.
   */
  readonly longestOutages: Readonly<Partial<Record<ChaosKind, number>>>;
  /** In ms: the longest time from a good pair on disk until it is served. */
  readonly longestRotation: number;
  readonly mostMemory: number;
  readonly mostFiles: number;
  /** The output of the agents, to find the cause of a violation. */
  readonly log: string;
}

/** In ms. Generous limits, for a busy machine. */
const served = 25_000;
const outage = 3_000;
/** In ms. A new agent waits for the locks, the files and the processes of the one before. */
const restart = 10_000;
const calm = 1_500;
const look = 100;
const mostMemory = 160 << 20;
const mostFiles = 80;
/** The files of 16 scrapes at once: connections to the scraper, the application and Envoy. */
const filesOfAttack = 48;
/**
 * In ms: how long a child lives without its parent. If there is no good pair on disk, no other
 * Envoy takes its place.
 */
const doom = 12_000;
/** In ms: the longest time until the agent reads its files without an event. */
const net = 62_000;

/**
 * Plays the events of a seed on a real agent over a real Envoy. Checks all the time the conditions
 * that must always hold.
 */
export async function runChaos({
  seed,
  events,
  skipped = 0,
  duration = Infinity,
  hostile = false,
  onEvent = () => undefined,
}: Chaos): Promise<ChaosReport> {
  const rig = await makeRig();
  const stage = setStage(rig);
  const attacker = hostile ? await stage.attack() : undefined;
  const start = () =>
    rig.start(['--envoyRestartBudget', '0', '--log_output_level', 'default:debug'], {
      env: {
        MINIMUM_DRAIN_DURATION: '0s',
        TERMINATION_DRAIN_DURATION_SECONDS: '1',
        ...attacker?.target,
      },
    });
  let running = start();
  const agents = [running];
  const agent = () => running;
  const began = performance.now();
  const now = () => performance.now() - began;
  const violations: string[] = [];
  const complain = (text: string) => {
    violations.push(`${(now() / 1_000).toFixed(1)} s: ${text}`);
    onEvent(`!! ${text}`);
  };

  /**
   * The good pair on disk, and the time since when the agent could know it; undefined if the pair
   * on disk is bad.
   */
  let wanted: { readonly serial: string; since: number; isOver: boolean } | undefined = {
    serial: rig.issued.serial,
    since: 0,
    isOver: false,
  };
  /** The number of actions under way during which no agent could serve. */
  let interfering = 0;
  /**
   * Whether requests may fail: an Envoy or the agent was killed or stopped, or an Envoy may have
   * read a bad file. It lasts until all is calm again.
   */
  let disturbed = true;
  let stoppedUntil = 0;
  let doomedUntil = 0;
  let calmSince: number | undefined;
  let downSince: number | undefined;
  let failures = 0;
  let excused = 0;
  const most = { rotation: 0, memory: 0, files: 0 };
  const outages: Partial<Record<ChaosKind, number>> = {};
  let kind: ChaosKind = 'good';

  async function hand<T>(action: () => Promise<T> | T): Promise<T> {
    interfering++;
    disturbed = true;
    try {
      return await action();
    } finally {
      interfering--;
      if (wanted !== undefined) wanted.since = Math.max(wanted.since, now());
      calmSince = undefined;
      downSince = undefined;
    }
  }
  async function rotate(from = 0): Promise<void> {
    const issued = await rig.ca.issue();
    writeCertificates(rig.certDir, issued);
    wanted = { serial: issued.serial, since: now() + from, isOver: false };
  }
  /**
   * Puts a bad file on disk. If an Envoy starts or is about to start, it may read a file that was
   * not checked: docs/explain/limits.md.
   */
  function spoil(write: () => void): void {
    const last = (...events: readonly string[]) =>
      agent()
        .log()
        .findLastIndex(({ event }) => events.includes(event));
    if (
      last('epoch.claimed', 'epoch.started', 'restart.scheduled') >
      last('epoch.live', 'config.refused')
    ) {
      disturbed = true;
      calmSince = undefined;
    }
    wanted = undefined;
    write();
  }
  function kill(pid: number | undefined, signal: NodeJS.Signals): void {
    try {
      if (pid !== undefined) process.kill(pid, signal);
    } catch {
      // It has ended already.
    }
  }
  /** Returns the Envoys in the order of their start. */
  const envoys = () => {
    const started = agent()
      .log()
      .flatMap(({ event, pid }) => (event === 'epoch.started' ? [Number(pid)] : []));
    return [...envoysOf(rig).keys()].sort((a, b) => started.indexOf(a) - started.indexOf(b));
  };

  const load = startLoad({
    port: rig.ports.listen,
    tls: { ca: rig.ca.rootCert },
    mode: 'keep-alive',
    clients: 2,
    pause: 20,
    maxDuration: Infinity,
    requestTimeout: 20_000,
  });
  const playing = new AbortController();
  const monitor = (async () => {
    while (!playing.signal.aborted) {
      await sleep(look);
      check(await servedSerial(rig.ports.listen, rig.ca.rootCert));
    }
  })();

  function check(serial: string | undefined): void {
    const baseIds = envoysOf(rig);
    // A stopped Envoy cannot end, and cannot make its parent end.
    const limit = new Set(baseIds.values()).size > 1 || now() < stoppedUntil ? 3 : 2;
    if (baseIds.size > limit) complain(`${baseIds.size} Envoys, ${limit} may be`);
    const { memory, files } = needsOf(agent().pid);
    most.memory = Math.max(most.memory, memory);
    most.files = Math.max(most.files, files);
    if (memory > mostMemory) complain(`the agent holds ${memory >> 20} MiB`);
    if (files > mostFiles + (hostile ? filesOfAttack : 0))
      complain(`the agent has ${files} files open`);

    if (load.counts.failed > failures) {
      const newFailures = load.counts.failed - failures;
      if (disturbed) excused += newFailures;
      else complain(`${newFailures} requests failed: ${JSON.stringify([...load.counts.errors])}`);
      failures = load.counts.failed;
    }
    if (interfering > 0) return;
    if (serial !== undefined && baseIds.size === 1 && now() > doomedUntil) {
      calmSince ??= now();
      if (now() - calmSince > calm) disturbed = false;
    } else calmSince = undefined;

    if (serial === undefined && wanted !== undefined) {
      downSince ??= now();
      const attempts = Number(
        agent()
          .log()
          .findLast(({ event }) => event === 'restart.scheduled')?.['attempt'] ?? 0,
      );
      const down =
        now() -
        downSince -
        1.2 * backOff({ first: 200, longest: 30_000 }, Math.max(0, attempts - 1));
      outages[kind] = Math.max(outages[kind] ?? 0, down);
      if (down > outage) {
        complain(`nobody has served for ${Math.round(now() - downSince)} ms after '${kind}'`);
        downSince = undefined;
      }
    } else downSince = undefined;

    if (wanted === undefined || wanted.isOver) return;
    if (serial === wanted.serial) {
      most.rotation = Math.max(most.rotation, now() - wanted.since);
      wanted.isOver = true;
    } else if (now() - wanted.since > served) {
      complain(`${wanted.serial} is on disk, ${String(serial)} is served`);
      wanted.isOver = true;
    }
  }

  async function play({ ms, ...event }: ChaosEvent): Promise<void> {
    kind = event.kind;
    switch (event.kind) {
      case 'good':
        return rotate();
      case 'does not parse': {
        spoil(() => writeFileSync(join(rig.certDir, 'cert-chain.pem'), 'no certificate'));
        return;
      }
      case 'does not match': {
        const { 'cert-chain.pem': chain = '' } = certificateFiles(await rig.ca.issue());
        spoil(() => writeFileSync(join(rig.certDir, 'cert-chain.pem'), chain));
        return;
      }
      case 'has expired': {
        const expired = await rig.ca.issue({
          notBefore: new Date(Date.now() - 9_000),
          notAfter: new Date(Date.now() - 1_000),
        });
        spoil(() => writeCertificates(rig.certDir, expired));
        return;
      }
      case 'kill newest':
        return hand(() => kill(envoys().at(-1), 'SIGKILL'));
      case 'kill oldest':
        return hand(() => {
          const [oldest, ...others] = envoys();
          kill(oldest, 'SIGKILL');
          if (others.length > 0) doomedUntil = now() + doom;
        });
      case 'kill at birth':
        return hand(async () => {
          const before = envoysOf(rig);
          await rotate();
          const born = () => [...envoysOf(rig).keys()].find((pid) => !before.has(pid));
          const child = await eventually(born, { within: 8_000, every: 1 }).catch(() => undefined);
          await sleep(ms);
          kill(child, 'SIGKILL');
        });
      case 'kill parent':
        return hand(async () => {
          const [parent] = envoys();
          const lineCount = agent().log().length;
          await rotate();
          const isLive = () =>
            agent()
              .log()
              .slice(lineCount)
              .some(({ event: code }) => code === 'epoch.live');
          await eventually(isLive, { within: 8_000, every: 5 }).catch(() => undefined);
          await sleep(ms);
          if (envoysOf(rig).size > 1) kill(parent, 'SIGKILL');
        });
      case 'kill check': {
        await rotate();
        for (let round = 0; round <= ms / 1_000; round++) {
          const checker = await eventually(() => checkerOf(rig), { within: 8_000, every: 1 }).catch(
            () => undefined,
          );
          kill(checker, 'SIGKILL');
        }
        if (wanted !== undefined) wanted.since = now();
        return;
      }
      case 'stop newest':
        return hand(async () => {
          const pid = envoys().at(-1);
          stoppedUntil = now() + ms + calm;
          kill(pid, 'SIGSTOP');
          await sleep(ms);
          kill(pid, 'SIGCONT');
        });
      case 'slow admin':
        return stage.bendAdmin(ms, 400);
      case 'hanging admin':
        return stage.bendAdmin(ms, Infinity);
      case 'full disk':
        if (!stage.ownDisk) return;
        await Promise.all([stage.fillDisk(ms), sleep(ms / 2).then(() => rotate())]);
        return;
      case 'lost events':
        kill(agent().pid, 'SIGSTOP');
        stage.flood();
        await rotate(net);
        kill(agent().pid, 'SIGCONT');
        return;
      case 'SIGHUP':
      case 'SIGUSR1':
        kill(agent().pid, event.kind);
        return;
      case 'stop agent':
        kill(agent().pid, 'SIGSTOP');
        await sleep(ms);
        kill(agent().pid, 'SIGCONT');
        return;
      case 'end agent':
      case 'kill agent':
        return hand(async () => {
          const ended = agent();
          kill(ended.pid, event.kind === 'end agent' ? 'SIGTERM' : 'SIGKILL');
          const { code } = await within(ended.exit, 20_000, { code: -1, signal: null });
          if (event.kind === 'end agent' && code !== 0)
            complain(
              `the agent was asked to end, and has ended with ${String(code)}: ${ended.errors()}`,
            );
          await eventually(() => rig.envoys().length === 0, { within: 3_000 }).catch(() =>
            complain('Envoys are left'),
          );
          // The next agent starts with the pair on disk, and its first Envoy would fail with a bad
          // pair.
          await rotate();
          running = start();
          agents.push(running);
          await eventually(() => servedSerial(rig.ports.listen, rig.ca.rootCert), {
            within: restart,
          }).catch(() => complain('a new agent does not serve'));
        });
    }
  }

  let played = 0;
  try {
    await agent().said('epoch.live', 0);
    for (const event of plan(seed, skipped)) {
      if (played === events || now() > duration) break;
      played++;
      onEvent(
        `${(now() / 1_000).toFixed(1)} s  ${played}. ${event.kind}${event.ms > 0 ? ` ${event.ms} ms` : ''}`,
      );
      await play(event);
      await sleep(event.pause);
      if (await hasEnded(agent())) {
        complain(`the agent has ended: ${agent().errors()}`);
        break;
      }
    }
    await rotate();
    await eventually(() => wanted?.isOver === true && !disturbed, {
      within: served + restart,
    }).catch(() => complain('it does not come to rest'));
    playing.abort();
    await monitor;
    const { ok, failed } = await load.stop();
    agent().kill('SIGTERM');
    const { code } = await within(agent().exit, 20_000, { code: -1, signal: null });
    if (code !== 0)
      complain(
        `the agent was asked to end, and has ended with ${String(code)}: ${agent().errors()}`,
      );
    if (rig.envoys().length > 0) complain('Envoys are left');
    const lines = agents.flatMap((each) => each.log());
    for (const harm of attacker?.harm() ?? []) complain(`the attacker: ${harm}`);
    for (const [index, { event, epoch, by }] of lines.entries()) {
      // A child that chaos killed may have closed the admin endpoint of its parent before.
      const hasLostChild = lines
        .slice(0, index)
        .some((line) => line.event === 'epoch.failed' && Number(line.epoch) > Number(epoch));
      if (event === 'epoch.hung' && !hasLostChild) complain(`epoch ${epoch} was taken for hung`);
      if (String(by).startsWith('POST ')) complain(`${event} by ${String(by)}`);
    }
    return {
      violations,
      minutes: now() / 60_000,
      events: played,
      requests: ok + failed,
      excused,
      epochs: lines.filter(({ event }) => event === 'epoch.live').length,
      rescues: lines.filter(({ event }) => event === 'rescue.started').length,
      longestRescue: Math.max(0, ...agents.flatMap(rescuesOf)),
      longestOutages: outages,
      longestRotation: most.rotation,
      mostMemory: most.memory,
      mostFiles: most.files,
      log: agents.map((each) => each.output()).join('--- the next agent\n'),
    };
  } finally {
    playing.abort();
    await monitor;
    await load.stop();
    for (const each of agents) each.kill('SIGKILL');
    stage.dispose();
    await rig.dispose();
  }
}

/** Returns the duration of each rescue that was completed, in ms. */
function rescuesOf(agent: RunningAgent): readonly number[] {
  const standaloneSince = new Map<unknown, number>();
  return agent.log().flatMap(({ event, epoch, time }) => {
    if (event === 'epoch.standalone') standaloneSince.set(epoch, Date.parse(String(time)));
    const since = standaloneSince.get(epoch);
    return event === 'epoch.live' && since !== undefined ? [Date.parse(String(time)) - since] : [];
  });
}

function within<T>(promise: Promise<T>, ms: number, late: T): Promise<T> {
  return Promise.race([promise, sleep(ms).then(() => late)]);
}

function hasEnded({ exit }: RunningAgent): Promise<boolean> {
  return within(
    exit.then(() => true),
    0,
    false,
  );
}
