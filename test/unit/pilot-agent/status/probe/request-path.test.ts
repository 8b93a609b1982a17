import { expect, it } from 'vitest';
import { requestPath } from '../../../../../src/pilot-agent/status/probe/request-path.ts';

/**
 * Compares with the kubelet: its rules were run for each path (Go 1.26, `url.Parse` and
 * `RequestURI`).
 */
it.each([
  ['/', '/'],
  ['/a b', '/a%20b'],
  ['/a%20b', '/a%20b'],
  ['/a%2Fb', '/a%2Fb'],
  ['/a%2fb c', '/a/b%20c'],
  ['/a%zz', '/a%25zz'],
  ['/%', '/%25'],
  ['/ä', '/%C3%A4'],
  ['/a%20ä', '/a%20%C3%A4'],
  ['/%C3%A4 b', '/%C3%A4%20b'],
  ['/%ff b', '/%FF%20b'],
  ['/😀', '/%F0%9F%98%80'],
  ['/a"b', '/a%22b'],
  ['/a|b', '/a%7Cb'],
  ['/a{b}', '/a%7Bb%7D'],
  ['/a<b>', '/a%3Cb%3E'],
  ['/a\\b', '/a%5Cb'],
  ['/a^b', '/a%5Eb'],
  ['/a`b', '/a%60b'],
  ["/a;b'c!d*e(f)g[h]~", "/a;b'c!d*e(f)g[h]~"],
  ["/a b;b'c!d*e(f)g[h]~", '/a%20b;b%27c%21d%2Ae%28f%29g%5Bh%5D~'],
  ['/a:b@c+d$e&f=g,h', '/a:b@c+d$e&f=g,h'],
  ['/a//b/../c', '/a//b/../c'],
  ['/a%00b', '/a%00b'],
  ['/a\tb', '/a%09b'],
  ['/a\u0000b', '/a%00b'],
  ['/a\u007fb', '/a%7Fb'],
  ['/a?b=c\td', '/a%3Fb=c%09d'],
  ['/a?', '/a?'],
  ['/a?b?c', '/a?b?c'],
  ['/a?b=%zz', '/a?b=%zz'],
  ['/a?b="c"|d', '/a?b="c"|d'],
  ['/a#fragment', '/a'],
  ['/a?q#fragment', '/a?q'],
  ['/?x=1', '/?x=1'],
  ['//other.example/x', '/x'],
  ['//other.example', '/'],
  ['///x', '///x'],
])('the kubelet asks for %j by %s', (path, target) => {
  expect(requestPath(path)).toBe(target);
});

/**
 * Go sends what follows the `?` as it is. A blank there would end the path, and Node refuses it.
 */
it.each([
  ['/a?b=c d', '/a?b=c%20d'],
  ['/a?b=ä', '/a?b=%C3%A4'],
  ['/a?b=\ud800', '/a?b=%EF%BF%BD'],
])('what would end the line is escaped in a query: %j is %s', (path, target) => {
  expect(requestPath(path)).toBe(target);
});
