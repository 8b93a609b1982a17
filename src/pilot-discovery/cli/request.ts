import { request as httpRequest } from 'node:http';
import { parseHostPort } from '../../shared/text/host-port.ts';
import { localLookup } from '../../shared/http/local-lookup.ts';
import { printable } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';

/** How long an answer may take, in ms. */
const timeoutMs = 60_000;

/**
 * `pilot-discovery request GET PATH`: prints what `--httpAddr` answers, and nothing else. Rejects
 * with a {@link Fatal} if nobody answers, and for a status above 399.
 */
export async function request(method: string, path: string, httpAddr: string): Promise<void> {
  if (method.toUpperCase() !== 'GET')
    throw new Fatal(`method: '${method}' is not GET`, exitCodes.usage);
  await printed('GET', path, httpAddr);
}

/** `pilot-discovery confirm`: lets the removals happen that are held back, and prints how many. */
export async function confirm(httpAddr: string): Promise<void> {
  await printed('POST', '/confirm', httpAddr);
}

async function printed(method: 'GET' | 'POST', path: string, httpAddr: string): Promise<void> {
  const address = parseHostPort(httpAddr);
  if (!/^\d{1,5}$/.test(address?.port ?? ''))
    throw new Fatal(`--httpAddr: '${httpAddr}' is not host:port`, exitCodes.usage);
  const { status, body } = await ask(
    method,
    address?.host === '' ? '127.0.0.1' : (address?.host ?? ''),
    Number(address?.port),
    path,
  ).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    throw new Fatal(
      `pilot-discovery does not answer at ${httpAddr}: ${why}: start it, or name its --httpAddr`,
      exitCodes.unavailable,
    );
  });
  if (status > 399) throw new Fatal(`${path}: status ${status}: ${body.trim()}`, exitCodes.refused);
  await new Promise<void>((done) =>
    process.stdout.write(printable(body.endsWith('\n') ? body : `${body}\n`), () => done()),
  );
}

function ask(
  method: string,
  host: string,
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((done, fail) => {
    const to = {
      method,
      host,
      port,
      lookup: localLookup,
      path: `/${path.replace(/^\//, '')}`,
      timeout: timeoutMs,
      agent: false,
    };
    const asked = httpRequest(to, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', fail);
      response.on('end', () =>
        done({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString('utf8') }),
      );
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer within 60 s')));
    asked.on('error', fail);
    asked.end();
  });
}
