import { create } from '@bufbuild/protobuf';
import { NodeSchema } from '../../../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { of, ReplaySubject, share, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  certificateAuthority,
  type CertificateAuthority,
  type Issued,
  writeCertificates,
} from '../../../../../demo/certificates.ts';
import {
  countSds,
  noSds,
  type SdsCounts,
  type SdsEvent,
} from '../../../../../src/pilot-agent/secrets/sds/sds-telemetry.ts';
import { sdsServer } from '../../../../../src/pilot-agent/secrets/sds/sds-server.ts';
import { fileSecrets } from '../../../../../src/pilot-agent/secrets/file-secrets.ts';
import { absentSecret, type SecretState } from '../../../../../src/pilot-agent/secrets/secret.ts';
import { findSecret, secretBook } from '../../../../../src/pilot-agent/secrets/secret-book.ts';
import { crlFile } from '../../../../../src/pilot-agent/secrets/with-crl.ts';
import { sdsClient, secretsIn } from '../../../../support/e2e/sds-client.ts';
import { eventually } from '../../../../support/eventually.ts';

describe('sdsServer', () => {
  let folder: string;
  let socket: string;
  let ca: CertificateAuthority;
  let issued: Issued;
  let events: SdsEvent[];
  const running: Subscription[] = [];
  const clients: { close(): void }[] = [];

  const counts = (): SdsCounts => events.reduce(countSds, noSds);
  /** A secret that cannot be encoded in an answer. */
  const poison: SecretState = {
    ...absentSecret('poison'),
    offered: {
      version: '1',
      secret: {
        kind: 'roots',
        get roots(): string {
          throw new Error('injected');
        },
      },
    },
  };
  const serve = (path = socket) => {
    const [chain, key, root] = ['cert-chain.pem', 'key.pem', 'root-cert.pem'].map((name) =>
      join(folder, name),
    );
    const workload$ = fileSecrets({ chain: chain ?? '', key: key ?? '', root: root ?? '' }).pipe(
      share({ connector: () => new ReplaySubject(1) }),
    );
    const book = secretBook(
      findSecret({
        workload$,
        files: (paths) => fileSecrets(paths),
        crl: crlFile(''),
        gateway: () => undefined,
      }),
    );
    running.push(book.get('default').subscribe(), book.get('ROOTCA').subscribe());
    const poisoned = {
      ...book,
      get: (name: string) => (name === 'poison' ? of(poison) : book.get(name)),
    };
    const server = sdsServer(path, poisoned).subscribe({
      next: (event) => events.push(event),
      error: (error: unknown) => expect.unreachable(String(error)),
    });
    running.push(server);
    return server;
  };
  const event = <T extends SdsEvent['type']>(type: T) =>
    eventually(() =>
      events.find((each): each is Extract<SdsEvent, { type: T }> => each.type === type),
    );
  const client = () => {
    const connection = sdsClient(socket);
    clients.push(connection);
    return connection;
  };
  const start = async () => {
    serve();
    await event('listening');
    return client();
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sds-server-'));
    socket = join(folder, 'SDS');
    events = [];
    ca = await certificateAuthority();
    issued = await ca.issue();
    writeCertificates(folder, issued);
  });
  afterEach(() => {
    for (const connection of clients.splice(0)) connection.close();
    for (const subscription of running.splice(0)) subscription.unsubscribe();
    rmSync(folder, { recursive: true });
  });

  it('answers default with key and certificate, ROOTCA with the root, and keeps no stale connection', async () => {
    const sds = await start();
    const stream = sds.stream();
    stream.send({ resourceNames: ['default'] });
    expect(secretsIn(await stream.answer(1))).toEqual({ default: issued.certChain + issued.key });
    const roots = sds.stream();
    roots.send({ resourceNames: ['ROOTCA'] });
    expect(secretsIn(await roots.answer(1))).toEqual({ ROOTCA: issued.rootCert });
    expect(counts().streams).toBe(2);
    sds.close();
    await expect.poll(() => counts().streams).toBe(0);
  });

  it('answers several names at once, and names what is missing', async () => {
    const sds = await start();
    expect(secretsIn(await sds.fetch('default', 'ROOTCA'))).toEqual({
      default: issued.certChain + issued.key,
      ROOTCA: issued.rootCert,
    });
    await expect(sds.fetch('default', 'other')).rejects.toThrow('there is no secret other');
  });

  it('answers file-root:<path> with the root in that file', async () => {
    const stream = (await start()).stream();
    const name = `file-root:${join(folder, 'root-cert.pem')}`;
    stream.send({ resourceNames: [name] });
    expect(secretsIn(await stream.answer(1))).toEqual({ [name]: issued.rootCert });
  });

  it('answers file-cert:<chain>~<key>, and pushes a change of either file', async () => {
    const stream = (await start()).stream();
    const name = `file-cert:${join(folder, 'cert-chain.pem')}~${join(folder, 'key.pem')}`;
    stream.send({ resourceNames: [name] });
    const first = await stream.answer(1);
    expect(secretsIn(first)).toEqual({ [name]: issued.certChain + issued.key });
    stream.send({
      resourceNames: [name],
      responseNonce: first.nonce,
      versionInfo: first.versionInfo,
    });
    // The certificate and the key stay the same in a file with other bytes: they still match.
    writeFileSync(join(folder, 'cert-chain.pem'), `${issued.certChain}\n`);
    const second = await stream.answer(2);
    expect(secretsIn(second)).toEqual({ [name]: `${issued.certChain}\n${issued.key}` });
    stream.send({
      resourceNames: [name],
      responseNonce: second.nonce,
      versionInfo: second.versionInfo,
    });
    writeFileSync(join(folder, 'key.pem'), `${issued.key}\n`);
    expect(secretsIn(await stream.answer(3))).toEqual({
      [name]: `${issued.certChain}\n${issued.key}\n`,
    });
  });

  it.each(['file-cert:one', 'file-cert:a~b~c', 'file-root:a~b', 'other'])(
    'tells why there is no %s, and goes on with the stream',
    async (name) => {
      const stream = (await start()).stream();
      stream.send({ resourceNames: [name, 'ROOTCA'] });
      const none = await stream.answer(1);
      expect(none.resources.map(({ typeUrl }) => typeUrl)).toEqual([
        'type.googleapis.com/pilotagent.v1.NoSecret',
      ]);
      expect((await event('missing')).name).toBe(name);
      stream.send({
        resourceNames: [name, 'ROOTCA'],
        responseNonce: none.nonce,
        errorDetail: {
          $typeName: 'envoy.service.discovery.v3.Status',
          code: 13,
          message: 'another type',
        },
      });
      expect(secretsIn(await stream.answer(2))).toEqual({ ROOTCA: issued.rootCert });
      expect(counts()).toMatchObject({ pushes: 1, rejected: 0 });
    },
  );

  it('tells a client of the incremental variant by name that there is none', async () => {
    const stream = (await start()).delta();
    stream.send({ resourceNamesSubscribe: ['other'] });
    const { resources } = await stream.answer(1);
    expect(resources.map(({ name, resource }) => [name, resource?.typeUrl])).toEqual([
      ['other', 'type.googleapis.com/pilotagent.v1.NoSecret'],
    ]);
  });

  it('ends the one stream in which something throws, and goes on with the others', async () => {
    const sds = await start();
    const other = sds.stream();
    other.send({ resourceNames: ['ROOTCA'] });
    const { nonce, versionInfo } = await other.answer(1);
    other.send({ resourceNames: ['ROOTCA'], responseNonce: nonce, versionInfo });
    const stream = sds.stream();
    stream.send({ resourceNames: ['poison'] });
    await expect.poll(() => stream.ended()).toContain('injected');
    await expect(sds.fetch('poison')).rejects.toThrow('injected');
    expect(
      events.flatMap((each) => (each.type === 'stream-failed' ? [String(each.error)] : [])),
    ).toEqual(['Error: injected', 'Error: injected']);
    await expect.poll(() => counts().streams).toBe(1);
    writeCertificates(folder, {
      ...issued,
      rootCert: `${issued.rootCert}
`,
    });
    expect(secretsIn(await other.answer(2))).toEqual({
      ROOTCA: `${issued.rootCert}
`,
    });
    expect(other.ended()).toBe(undefined);
  });

  it('counts a refusal with its reason, is silent, and delivers the next push', async () => {
    const stream = (await start()).stream();
    stream.send({ resourceNames: ['default'] });
    const { nonce } = await stream.answer(1);
    stream.send({
      resourceNames: ['default'],
      responseNonce: nonce,
      errorDetail: {
        $typeName: 'envoy.service.discovery.v3.Status',
        code: 13,
        message: 'fake error',
      },
    });
    expect((await event('rejected')).reason).toBe('fake error');
    expect(counts().rejected).toBe(1);
    const next = await ca.issue();
    writeCertificates(folder, next);
    expect(secretsIn(await stream.answer(2))).toEqual({ default: next.certChain + next.key });
    expect(stream.answers).toHaveLength(2);
  });

  it('serves the incremental variant', async () => {
    const stream = (await start()).delta();
    stream.send({ resourceNamesSubscribe: ['default', 'ROOTCA'] });
    const names = () =>
      stream.answers.flatMap(({ resources }) => resources.map(({ name }) => name));
    const first = await stream.answer(1);
    stream.send({ responseNonce: first.nonce });
    await expect.poll(() => names()).toHaveLength(2);
    expect(names().sort()).toEqual(['ROOTCA', 'default']);
  });

  it('ends a stream of another type, and one without a node id, with the reason', async () => {
    const sds = await start();
    const other = sds.stream();
    other.send({
      typeUrl: 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
      resourceNames: ['x'],
    });
    await expect.poll(() => other.ended()).toContain('is not served here');
    const nameless = sds.stream();
    nameless.send({ resourceNames: ['default'], node: create(NodeSchema) });
    await expect.poll(() => nameless.ended()).toContain('no node id');
    await expect.poll(() => counts().streams).toBe(0);
  });

  it('listens on a socket that only its user can open, and takes it away at the end', async () => {
    const server = serve();
    await event('listening');
    expect(statSync(socket).mode & 0o777).toBe(0o600);
    server.unsubscribe();
    expect(existsSync(socket)).toBe(false);
  });

  it('fails if another process listens', async () => {
    const other: Server = createServer().listen(socket);
    await new Promise((done) => other.once('listening', done));
    serve();
    expect((await event('failed')).reason).toBe(`${socket} is served by another process`);
    expect(existsSync(socket)).toBe(true);
    await new Promise((done) => other.close(done));
  });

  it('fails where something else is, and leaves it there', async () => {
    writeFileSync(socket, 'precious');
    serve();
    expect((await event('failed')).reason).toContain('is not a socket');
    expect(existsSync(socket)).toBe(true);
  });

  it('fails if the path is too long for a socket, or nothing can be written', async () => {
    serve(join(folder, 'x'.repeat(120)));
    expect((await event('failed')).reason).toContain('bytes at most');
    events = [];
    chmodSync(folder, 0o700);
    serve(join(folder, 'missing', 'SDS'));
    expect((await event('failed')).reason).not.toBe('');
  });

  it('fails if its socket cannot be put in its place, and clears away what it has bound', async () => {
    serve();
    // The server has already checked whether something is there.
    mkdirSync(join(socket, 'mine'), { recursive: true });
    expect((await event('failed')).reason).toMatch(/EISDIR|ENOTEMPTY|EEXIST/);
    running.splice(0).forEach((subscription) => subscription.unsubscribe());
    expect(readdirSync(folder).filter((name) => name.startsWith('SDS'))).toEqual(['SDS']);
    events = [];
    symlinkSync('loop', join(folder, 'loop'));
    serve(join(folder, 'loop', 'SDS'));
    expect((await event('failed')).reason).toContain('ELOOP');
  });

  it('pushes one change to 1,000 streams, and lets go of all of them', async () => {
    const sds = await start();
    const streams = Array.from({ length: 1_000 }, () => sds.stream());
    for (const stream of streams) stream.send({ resourceNames: ['default'] });
    await expect.poll(() => streams.every(({ answers }) => answers.length === 1)).toBe(true);
    for (const stream of streams) stream.send({ resourceNames: ['default'], responseNonce: '1' });
    writeCertificates(folder, await ca.issue());
    await expect.poll(() => streams.every(({ answers }) => answers.length === 2)).toBe(true);
    expect(counts().streams).toBe(1_000);
    sds.close();
    await expect.poll(() => counts().streams).toBe(0);
  });
});
