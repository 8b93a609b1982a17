import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import { gzipSync } from 'node:zlib';
import { defer, ignoreElements, of, tap } from 'rxjs';
import type { Handler } from '../../shared/http/handler.ts';
import { compress } from './scrape/negotiate.ts';

/**
 * The paths of the page: beside the program, above the library, below the project. An executable
 * contains the page.
 */
const places = ['page.html', '../../page.html', '../../../dist/page.html'].map((path) =>
  join(import.meta.dirname, path),
);

/**
 * Answers with the page. Reads it for each request, because a user opens it only once. The page may
 * run its own script, and send requests only to this port.
 */
export function page(read: () => string = readPage): Handler {
  return (request, response) =>
    defer(() => {
      const text = read();
      const etag = `W/"${digest(text).slice(0, 27)}"`;
      const isGzip = compress(request.headers['accept-encoding'], {})?.name === 'gzip';
      return of({ text, etag, isGzip, body: isGzip ? gzipSync(text) : Buffer.from(text) });
    }).pipe(
      tap(({ text, etag, isGzip, body }) => {
        const headers = { etag, 'cache-control': 'no-cache', vary: 'accept-encoding' };
        if (request.headers['if-none-match']?.split(/\s*,\s*/).includes(etag) === true) {
          response.writeHead(304, headers).end();
          return;
        }
        response
          .writeHead(200, {
            ...headers,
            'content-type': 'text/html; charset=utf-8',
            'content-length': body.length,
            ...(isGzip && { 'content-encoding': 'gzip' }),
            'content-security-policy': policyOf(text),
            'x-content-type-options': 'nosniff',
            'referrer-policy': 'no-referrer',
            'cross-origin-opener-policy': 'same-origin',
            'cross-origin-resource-policy': 'same-origin',
          })
          .end(body);
      }),
      ignoreElements(),
    );
}

function readPage(): string {
  return isSea()
    ? getAsset('page.html', 'utf8')
    : readFileSync(places.find((path) => existsSync(path)) ?? 'page.html', 'utf8');
}

/**
 * Returns the policy of a page: it may run its own scripts, use its own styles, and send requests
 * to its origin.
 */
function policyOf(text: string): string {
  const hashes = (element: string) =>
    [...text.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))]
      .map(([, inner = '']) => `'sha256-${digest(inner)}'`)
      .join(' ');
  return [
    "default-src 'none'",
    `script-src ${hashes('script')}`,
    `style-src ${hashes('style')}`,
    "connect-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join('; ');
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64');
