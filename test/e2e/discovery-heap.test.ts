import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeKubernetesVolume } from '../../demo/certificates.ts';
import { ask } from '../support/ask.ts';
import { connects } from '../support/connects.ts';
import { freePorts } from '../support/free-ports.ts';
import { pluggedAuthority } from '../support/plugged-authority.ts';
import { workloadAuthority } from '../support/workload-authority.ts';

/** Returns the lines of a PEM between its first and its last one. */
const inside = (pem: string | Buffer) =>
  pem
    .toString()
    .split('\n')
    .filter((line) => line.length > 40 && !line.includes('-----'));

/**
 * Whether a heap contains one of the texts. An assertion on the heap itself would report all of it.
 */
const has = (heap: string, texts: readonly string[]) => texts.some((text) => heap.includes(text));

/** The start of PKCS#8 in base64 that all keys of P-256 share. */
const pkcs8 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'der' })
  .toString('base64')
  .slice(0, 46);

describe('the heap of pilot-discovery', () => {
  let folder: string;
  const ends: (() => unknown)[] = [];

  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'pilot-discovery-heap-'))));
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    rmSync(folder, { recursive: true });
  });

  /** Starts a control plane that serves TLS; returns a snapshot of its heap. */
  async function snapshot(renew: (() => void) | undefined): Promise<string> {
    const [grpc = 0, secure = 0, http = 0] = await freePorts(3);
    mkdirSync(join(folder, 'config'));
    const addressOf = (port: number) => `127.0.0.1:${port}`;
    const child = execa(
      process.execPath,
      [
        ...['--heapsnapshot-signal=SIGUSR2', resolve('dist/pilot-discovery.cjs'), 'discovery'],
        ...[
          '--configDir',
          'config',
          '--grpcAddr',
          addressOf(grpc),
          '--secureGRPCAddr',
          addressOf(secure),
        ],
        ...['--httpAddr', addressOf(http), '--monitoringAddr', ''],
      ],
      { cwd: folder, buffer: false, reject: false },
    );
    ends.push(() => (child.kill('SIGTERM'), child));
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => (output += piece));
    const served = () => output.split('"discovery.serving"').length - 1;
    await expect.poll(async () => (await ask(http, '/ready')).status).toBe(200);
    await expect.poll(() => connects(secure)).toBe(true);
    if (renew !== undefined) {
      renew();
      await expect.poll(served).toBe(2);
    }
    // A core dump contains no memory either.
    expect(output).not.toContain('discovery.memory_dumped');
    expect(readFileSync(`/proc/${child.pid}/coredump_filter`, 'utf8')).toBe('00000000\n');
    child.kill('SIGUSR2');
    const file = () => readdirSync(folder).find((name) => name.endsWith('.heapsnapshot'));
    const text = () => readFileSync(join(folder, file() ?? 'none'), 'utf8');
    await expect.poll(file).toBeDefined();
    await expect.poll(() => text().trimEnd().endsWith('}')).toBe(true);
    return text();
  }

  it('has no key of the files of its certificate, also after a change', async () => {
    const authority = await workloadAuthority();
    const name = { type: 'dns', value: 'istiod.test' } as const;
    const [first, second] = [
      await authority.issue({ names: [name] }),
      await authority.issue({ names: [name] }),
    ];
    const mounted = join(folder, 'var/run/secrets/istiod/tls');
    const write = ({ chain, key }: typeof first) =>
      writeKubernetesVolume(mounted, {
        'tls.crt': chain,
        'tls.key': key,
        'ca.crt': authority.root,
      });
    write(first);
    const heap = await snapshot(() => write(second));
    // The heap contains the certificate, which shows that the search finds texts.
    expect(has(heap, inside(second.chain))).toBe(true);
    for (const { key } of [first, second]) expect(has(heap, inside(key))).toBe(false);
    expect(has(heap, [pkcs8])).toBe(false);
  });

  it('has no key of its authority, and none of the certificate that this one issues', async () => {
    const { certificate, key, chain, roots } = await pluggedAuthority();
    writeKubernetesVolume(join(folder, 'etc/cacerts'), {
      'ca-cert.pem': certificate,
      'ca-key.pem': key.toString(),
      'cert-chain.pem': chain,
      'root-cert.pem': roots,
    });
    const heap = await snapshot(undefined);
    expect(has(heap, inside(new X509Certificate(certificate).toString()))).toBe(true);
    expect(has(heap, inside(key))).toBe(false);
    expect(has(heap, [pkcs8])).toBe(false);
  });
});
