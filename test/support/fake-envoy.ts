import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lastValueFrom, NEVER, type Observable, type SchedulerLike, Subject, toArray } from 'rxjs';
import { expect } from 'vitest';
import { adminClient } from '../../src/proxy/admin-client.ts';
import type {
  EpochConfig,
  Exit,
  Launch,
  ProcessEvent,
  Proxy,
  Signal,
  Verdict,
} from '../../src/epochs/ports.ts';
import { findExecutable } from '../../src/pilot-agent/envoy/find-envoy.ts';
import { reserveBaseId } from '../../src/proxy/base-ids.ts';
import { type EnvoyOptions, envoyProxy } from '../../src/proxy/envoy-proxy.ts';
import { restartAddresses } from '../../src/proxy/restart-addresses.ts';
import { eventually } from './eventually.ts';
import { type FakeAdmin, fakeAdmin, type Says } from './fake-admin.ts';
import { readingOf } from '../../src/testing/reading.ts';

/** A privileged port on which no process listens, so that it refuses connections. */
const nobodysPort = 1;
const mkfifo = findExecutable('mkfifo', process.env['PATH']);

type NewLaunch = Extract<Launch, { readonly adopted: false }>;

export interface Settings extends Partial<Pick<EnvoyOptions, 'drainsAll'>> {
  /** Returns the configuration for each start and each check. */
  readonly config?: () => EpochConfig;
  /** The names of files in the root of the stage. */
  readonly pair?: { readonly chain: string; readonly key: string };
  /** The scheduler that measures how long an answer of the admin endpoint takes. */
  readonly answerScheduler?: SchedulerLike;
  /** The port of the admin endpoint until an Envoy has written its address into the file. */
  readonly adminPort?: number;
}

/** A process that runs instead of an Envoy. */
interface FakeEnvoy {
  readonly pid: number;
  readonly argv: readonly string[];
  /** Returns the argument that follows the flag; '' if there is none. */
  readonly option: (flag: string) => string;
  signal(signal: Signal): void;
  /**
   * Opens its admin endpoint, and writes the address into the file. The endpoint reports `says`,
   * and otherwise the base id and the restart epoch of its arguments.
   */
  comesUp(says?: Partial<Says>): Promise<FakeAdmin>;
  /** Resolves to its exit when that has been emitted. */
  exit(): Promise<Exit>;
  /** Unsubscribes from its events. */
  leave(): void;
}

/**
 * An `envoyProxy` in a folder of its own, with a program that records its arguments instead of
 * Envoy, and with fake admin endpoints.
 */
export interface EnvoyStage {
  readonly proxy: Proxy;
  /** Checks the current configuration. */
  check(): Observable<Verdict>;
  /** The folder for files of the test. */
  readonly root: string;
  /** The folder of the agent's files. */
  readonly folder: string;
  readonly addressFile: string;
  readonly baseId: number;
  /** Each line that an Envoy has written: its epoch and its message. */
  readonly heard: readonly string[];
  /**
   * Replaces the program by a shell script with this text, which may end with {@link onward}.
   */
  install(script: string): void;
  /**
   * Replaces the program by one whose validation does not end. The returned function resolves to
   * the process id of the validation.
   */
  installLasting(): () => Promise<string>;
  /**
   * Returns the arguments of the last validation, and the text and the mode of its configuration.
   * Undefined if there was no validation.
   */
  validated():
    | { readonly argv: readonly string[]; readonly config: string; readonly mode: number }
    | undefined;
  /** Returns the number of validations. */
  validations(): number;
  /** Returns how often the hot restart version was requested. */
  versionAsked(): number;
  /** Resolves when the Envoy of that epoch runs. */
  start(launch: Partial<NewLaunch>): Promise<FakeEnvoy>;
  /** Resolves to all events of an epoch that does not start. */
  events(launch: Partial<NewLaunch>): Promise<readonly ProcessEvent[]>;
  dispose(): void;
}

/** The first part of the program, which records its arguments. The script of the test follows. */
const note = String.raw`case "$*" in
  --hot-restart-version) printf . >>"$0.versions" ;;
  *'--mode validate')
    cp -p "$2" "$0.tried"
    printf '%s\0' "$@" >"$0.validated"
    printf . >>"$0.validations" ;;
  *) printf '%s\0' "$@" >"$0.$$.new"; mv "$0.$$.new" "$0.$$" ;;
esac`;

/**
 * The usual second part of the program. It accepts every configuration, reports no hot restart
 * version, and runs for 60 s unless it is ended.
 */
export const onward = `case "$*" in
  --hot-restart-version) exit 1 ;;
  *'--mode validate') exit 0 ;;
  *) exec sleep 60 ;;
esac`;

/** The configuration of an {@link envoyStage} without `config`. */
export const bootstrap = {
  kind: 'generated',
  text: '{"static_resources":{}}',
  extension: '.json',
  override: '',
} as const;

export function envoyStage({
  config = () => bootstrap,
  pair,
  drainsAll = false,
  answerScheduler,
  adminPort = nobodysPort,
}: Settings = {}): EnvoyStage {
  const root = mkdtempSync(join(tmpdir(), 'pilot-agent-fake-envoy-'));
  const folder = join(root, 'run');
  const binary = join(root, 'envoy');
  const addressFile = join(folder, 'envoy-admin-address');
  const baseId = 500_000_000 + process.pid * 10; // above all base ids that an agent draws
  let lastBaseId = baseId;
  const heard: string[] = [];
  const admins: FakeAdmin[] = [];
  const lives: { unsubscribe(): void }[] = [];
  mkdirSync(folder);

  const install = (script: string) => {
    writeFileSync(`${binary}.installed`, `#!/bin/sh\n${note}\n${script}\n`, { mode: 0o755 });
    renameSync(`${binary}.installed`, binary);
  };
  install(onward);

  const proxy = envoyProxy({
    ...{ binary, addressFile, folder, drainsAll },
    args: {
      ...{
        drainDuration: 45_000,
        parentShutdownDuration: 60_000,
        serviceCluster: 'a cluster',
        serviceNode: 'a~node',
      },
      ...{
        ipv6: false,
        logFormat: '%v',
        logLevel: 'info',
        componentLogLevel: 'misc:error',
        concurrency: 2,
      },
    },
    admin: adminClient(addressFile, adminPort, answerScheduler),
    pairs: pair === undefined ? [] : [{ chain: join(root, pair.chain), key: join(root, pair.key) }],
    tools: { mkfifo, setpriv: undefined, sh: undefined },
    explain: async (_, reason) => Promise.resolve({ reason }),
    restartAddresses: restartAddresses(folder, () => reserveBaseId(() => lastBaseId++)),
    onLine: ({ message }, epoch) => heard.push(`${epoch} ${message}`),
  });
  function run(
    { epoch = 0, restartEpoch = epoch, ...rest }: Partial<NewLaunch>,
    signals$: Observable<Signal>,
  ): Observable<ProcessEvent> {
    return proxy.run(
      {
        adopted: false,
        epoch,
        restartEpoch,
        lineage: 0,
        sideBySide: false,
        reading: readingOf('hash', config()),
        ...rest,
      },
      signals$,
    );
  }

  return {
    check: () => proxy.check(readingOf('hash', config())),
    ...{ proxy, root, folder, addressFile, baseId, heard, install },
    validated() {
      if (!existsSync(`${binary}.validated`)) return undefined;
      const mode = statSync(`${binary}.tried`).mode & 0o777;
      return { argv: words(read(`${binary}.validated`)), config: read(`${binary}.tried`), mode };
    },
    installLasting() {
      install(
        `case "$*" in *'--mode validate') touch "$0.$$.validates"; exec sleep 60 ;; esac\n${onward}`,
      );
      const name = () => readdirSync(root).find((fileName) => fileName.endsWith('.validates'));
      return async () => (await eventually(name)).split('.').at(-2) ?? '';
    },
    validations: () => read(`${binary}.validations`).length,
    versionAsked: () => read(`${binary}.versions`).length,
    async start(launch) {
      const signals$ = new Subject<Signal>();
      const events: ProcessEvent[] = [];
      const life = run(launch, signals$).subscribe({
        next: (event) => events.push(event),
        error: (error: unknown) => expect.fail(String(error)),
      });
      lives.push(life);
      const exitIn = () => events.find((event) => event.type === 'exited')?.exit;
      const pid = await eventually(() => events.find((event) => event.type === 'spawned')?.pid);
      const argv = words(await eventually(() => read(`${binary}.${pid}`)));
      const option = (flag: string) =>
        argv.includes(flag) ? (argv[argv.indexOf(flag) + 1] ?? '') : '';
      return {
        ...{ pid, argv, option },
        signal: (signal) => signals$.next(signal),
        async comesUp(says = {}) {
          const itself = {
            baseId: Number(option('--base-id')),
            restartEpoch: Number(option('--restart-epoch')),
          };
          const admin = await fakeAdmin({ ...itself, ...says });
          admins.push(admin);
          writeFileSync(option('--admin-address-path'), admin.address);
          return admin;
        },
        exit: () => eventually(exitIn),
        leave: () => life.unsubscribe(),
      };
    },
    events: (launch) => lastValueFrom(run(launch, NEVER).pipe(toArray()), { defaultValue: [] }),
    dispose() {
      for (const life of lives) life.unsubscribe();
      for (const admin of admins) admin.close();
      rmSync(root, { recursive: true });
    },
  };
}

/** Resolves to the value of an observable that must emit exactly one. */
export async function only<T>(answer$: Observable<T>): Promise<T> {
  const answers = await lastValueFrom(answer$.pipe(toArray()), { defaultValue: [] });
  expect(answers).toHaveLength(1);
  return answers[0] as T;
}

function words(text: string): readonly string[] {
  return text.split('\0').slice(0, -1);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
