import { describe, expect, it } from 'vitest';
import { readCel } from '../../../../../src/pilot-discovery/istio/telemetry/read-cel.ts';

/** Expressions that Envoy 1.36.2 and 1.40.0 accept in a filter of an access log. */
const right = `1
foo == 1
response.code >= 400 && !(request.path in ['/a', "/b"])
request.path.startsWith('/a') || request.path.endsWith("/a") || 'x'.contains('y')
startsWith('a', 'b') || matches(request.path, r'\\d+') || contains('a', 'b')
size(request.path) > request.path.size()
has(request.headers.a) && has(.a.b)
int('1') + int(double(1)) == int(uint(1))
timestamp('2020-01-01T00:00:00Z') < request.time && duration('1s') < response.duration
request.time.getFullYear('UTC') == request.time.getMonth()
type(1) == int && dyn(1) == 1 && bool('true') && bytes('a') == b'a'
-response.code < - -1 && !!true && !-1
response.code == 200 ? true : false
{'a': 1,}['a'] == {'b': [1, 2,][0]}.b
.5 == 1e3 && 1.5e-3 < 0x1F && 18446744073709551615u > 0U
-9223372036854775808 < 9223372036854775807
response.code in [-9223372036854775808] && -(-1) == 1 && ! !true
'''a
b''' == """a"b""" && br'\\x' == b'\\x41' && '\\u00e9\\101\\?' == 'é'
a.as == a.for && true.a == 1.a && 'a'.b == a . b
1 < 2 < 3 == (4 in [4]) // ends here
{} == [] && null == null
${'!'.repeat(300)}true
${Array.from({ length: 300 }, () => 'true').join(' && ')}`;

/** Expressions that they refuse. */
const wrong = `response.code >=
(response.code
response.code == 'x
response.code & 1
a=b
a ? b
a ? b : c : d
a b
'a' 'b'
'\\d'
'\\400'
'\\ud800'
'\\U00110000'
b'\\u0041'
rb'a'
"a
5e
0x
1. == 1
9223372036854775808
request.size - 9223372036854775808 == 0
1 -9223372036854775808 == 0
-!true == true
!-response.code == 1
!- -1 == 1
18446744073709551616u
as
in
a.true
a.in
a.é
é
()
[1,,2]
{1}
{1:}
foo(1)
f.g()
request.path.startsWith()
startsWith('a')
request.path.int()
size()
size(1, 2)
int(1, 2)
getMonth(a)
a.getMonth('a', 'b')
has(a)
has(a[0])
has(a.b, c)
a.has(b.c)
a.exists(b, true)
a.all(b, true)
exists(a, b)
request.path.matches('(')
request.path.matches('(?=a)')
matches(request.path, "[")
a.b{}
Foo{a: 1}
a.?b
[?1]
\`a\`.b
a$b
a;b
${'('.repeat(60)}1${')'.repeat(60)}
${'['.repeat(60)}1${']'.repeat(60)}
${Array.from({ length: 100 }, () => '1').join('+')}
${Array.from({ length: 100 }, () => 'a').join('.')}
a${'[1]'.repeat(100)}
${'true?1:'.repeat(60)}2
// only a remark`;

/** Returns the expressions of a text, one a line; a quoted text may span lines. */
const lines = (text: string): readonly string[] => text.split(/\n(?!b''')/);

describe('an expression of CEL', () => {
  it.each(lines(right))('is right: %s', (expression) => {
    expect(readCel(expression).flaw).toBeUndefined();
  });

  it.each(lines(wrong))('is refused: %s', (expression) => {
    expect(readCel(expression).flaw).toMatch(/^(?:at character \d+: .|it has more)/);
  });

  it('begins with names that are looked up', () => {
    const { roots } = readCel("a.b == c[d] && e.size() > 0 || .h == 'i' ? {j: 1} : k.l");
    expect([...roots].sort()).toEqual(['a', 'c', 'd', 'e', 'h', 'j', 'k']);
  });

  it('says where', () => {
    expect(readCel('a == &').flaw).toBe('at character 6: & cannot be here');
    expect(readCel('1'.repeat(5_000)).flaw).toBe('it has more than 4096 characters');
  });
});
