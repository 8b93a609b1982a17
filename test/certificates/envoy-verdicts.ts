import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  filter,
  firstValueFrom,
  from,
  lastValueFrom,
  map,
  mergeMap,
  NEVER,
  of,
  scan,
  startWith,
  take,
  timeout,
  toArray,
} from 'rxjs';
import { sdsCluster, sdsSecretConfig } from '../../src/pilot-agent/bootstrap/secret-clusters.ts';
import { refusalOf } from '../../src/shared/log/envoy-refusal.ts';
import { sdsServer } from '../../src/pilot-agent/secrets/sds/sds-server.ts';
import {
  absentSecret,
  type Secret,
  type SecretState,
  secretVersion,
} from '../../src/pilot-agent/secrets/secret.ts';
import { freePorts } from '../support/free-ports.ts';
import type { CertificateKind } from './kinds.ts';

/** The reason why Envoy refuses something; empty if it accepts it. */
export type EnvoyVerdict = string;

/** The verdicts of Envoy about one kind: about its pair, and about its roots. */
export interface KindVerdict {
  readonly pair: EnvoyVerdict;
  readonly roots: EnvoyVerdict;
}

type Part = keyof KindVerdict;
const parts = ['pair', 'roots'] as const;

const tls = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext';

function listener(name: string, port: number, context: object): object {
  const proxy = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
    stat_prefix: 'tcp',
    cluster: 'none',
  };
  return {
    name,
    address: { socket_address: { address: '127.0.0.1', port_value: port } },
    filter_chains: [
      {
        filters: [{ name: 'tcp', typed_config: proxy }],
        transport_socket: {
          name: 'tls',
          typed_config: { '@type': tls, common_tls_context: context },
        },
      },
    ],
  };
}

function bootstrap(listeners: readonly object[], clusters: readonly unknown[] = []): string {
  const none = { name: 'none', type: 'STATIC' };
  return JSON.stringify({
    node: { id: 'judge', cluster: 'judge' },
    static_resources: { listeners, clusters: [none, ...clusters] },
  });
}

/** Resolves to the verdicts of `--mode validate` about the files of each kind. */
export async function restartVerdicts(
  envoy: string,
  kinds: readonly CertificateKind[],
): Promise<readonly KindVerdict[]> {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-kinds-'));
  const pairAt = (pathPrefix: string) => ({
    tls_certificates: [
      {
        certificate_chain: { filename: `${pathPrefix}.chain` },
        private_key: { filename: `${pathPrefix}.key` },
      },
    ],
  });
  const contexts = {
    pair: pairAt,
    roots: (pathPrefix: string) => ({
      ...pairAt(join(folder, '0')),
      validation_context: { trusted_ca: { filename: `${pathPrefix}.roots` } },
    }),
  };
  const validate = (pathPrefix: string, part: Part) =>
    new Promise<EnvoyVerdict>((done) => {
      const config = bootstrap([listener('l', 0, contexts[part](pathPrefix))]);
      execFile(
        envoy,
        ['--mode', 'validate', '-l', 'error', '--log-format', '%v', '--config-yaml', config],
        (error, stdout, stderr) => {
          const lines = `${stdout}\n${stderr}`.split('\n');
          done(
            error === null
              ? ''
              : (
                  lines.map(refusalOf).find((line) => line !== undefined) ??
                  `Envoy ended with ${String(error.code)}`
                ).replaceAll(`${folder}/`, ''),
          );
        },
      );
    });
  try {
    const verdict$ = from(kinds).pipe(
      mergeMap(async ({ chain, key, roots }, index) => {
        const pathPrefix = join(folder, String(index));
        for (const [name, content] of Object.entries({ chain, key, roots }))
          writeFileSync(`${pathPrefix}.${name}`, content);
        return {
          index,
          verdict: {
            pair: await validate(pathPrefix, 'pair'),
            roots: await validate(pathPrefix, 'roots'),
          },
        };
      }, 2),
      toArray(),
      map((indexedVerdicts) =>
        indexedVerdicts
          .sort((left, right) => left.index - right.index)
          .map(({ verdict }) => verdict),
      ),
    );
    return await lastValueFrom(verdict$, { defaultValue: [] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Resolves to the answers of a running Envoy that receives each kind over SDS, unchecked. */
export async function pushVerdicts(
  envoy: string,
  kinds: readonly CertificateKind[],
): Promise<readonly KindVerdict[]> {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-kinds-'));
  const socket = join(folder, 'SDS');
  const secrets = new Map<string, Secret>(
    kinds.flatMap(({ chain, key, roots }, index) => [
      [`pair${index}`, { kind: 'pair', chain: chain.toString(), key } as const],
      [`roots${index}`, { kind: 'roots', roots: roots.toString() } as const],
    ]),
  );
  const book = {
    get: (name: string) => {
      const secret = secrets.get(name);
      const offered = secret && { secret, version: secretVersion(secret) };
      return of<SecretState>({ ...absentSecret(name), offered });
    },
    answered: () => undefined,
    states: () => [],
    changes$: NEVER,
  };
  const ports = await freePorts(2 * kinds.length);
  const listeners = kinds.flatMap((_, index) =>
    parts.map((part, which) => {
      const secret = sdsSecretConfig(`${part}${index}`);
      const pair = {
        tls_certificate_sds_secret_configs: [part === 'pair' ? secret : sdsSecretConfig('pair0')],
      };
      const context =
        part === 'pair' ? pair : { ...pair, validation_context_sds_secret_config: secret };
      return listener(`${part}${index}`, ports[2 * index + which] ?? 0, context);
    }),
  );
  const config = bootstrap(listeners, [sdsCluster(socket)]);
  const started = spawn(
    envoy,
    [
      '--base-id',
      String(process.pid),
      '--concurrency',
      '1',
      '-l',
      'error',
      '--config-yaml',
      config,
    ],
    {
      stdio: 'inherit',
    },
  );
  try {
    const answers$ = sdsServer(socket, book).pipe(
      mergeMap((event) => {
        if (event.type !== 'accepted' && event.type !== 'rejected') return [];
        return [...event.versions.keys()].map(
          (name) => [name, event.type === 'rejected' ? event.reason : ''] as const,
        );
      }),
      scan(
        (answers, [name, verdict]) => new Map([...answers, [name, verdict]]),
        new Map<string, EnvoyVerdict>(),
      ),
      startWith(new Map<string, EnvoyVerdict>()),
      filter(({ size }) => size === secrets.size),
      take(1),
      timeout(30_000),
    );
    const answers = await firstValueFrom(answers$, {
      defaultValue: new Map<string, EnvoyVerdict>(),
    });
    return kinds.map((_, index) => ({
      pair: answers.get(`pair${index}`) ?? '',
      roots: answers.get(`roots${index}`) ?? '',
    }));
  } finally {
    started.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
}
