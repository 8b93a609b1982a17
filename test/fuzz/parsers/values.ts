import { parseHostPort, portNumber } from '../../../src/shared/text/host-port.ts';
import { parseBoolean, parseDuration } from '../../../src/shared/text/value.ts';
import { fuzzed, textOf } from '../parser.ts';

export const values = [
  fuzzed({
    name: 'durations',
    inputs: textOf('1', '0', '.', '-', '+', 'h', 'm', 's', 'ms', 'us', 'µs', 'ns', '9'.repeat(400)),
    parse: parseDuration,
    growing: {
      digits: (size) => '1'.repeat(size),
      'digits after a point': (size) => `.${'1'.repeat(size)}s`,
      parts: (size) => '1s'.repeat(size),
      'parts and a flaw': (size) => `${'1s'.repeat(size)}!`,
    },
  }),
  fuzzed({
    name: 'addresses',
    inputs: textOf('[', ']', ':', '::', '1', '127.0.0.1', 'istiod', '%eth0', '.'),
    parse: parseHostPort,
    growing: {
      colons: (size) => ':'.repeat(size),
      brackets: (size) => '[]'.repeat(size),
      'a name and a flaw': (size) => `${'a:'.repeat(size)}]`,
    },
  }),
  fuzzed({
    name: 'ports',
    inputs: textOf('1', '65535', '-', 'e'),
    parse: portNumber,
    growing: { digits: (size) => '1'.repeat(size) },
  }),
  fuzzed({
    name: 'booleans',
    inputs: textOf('true', 'T', '0', 'x'),
    parse: parseBoolean,
    growing: { letters: (size) => 't'.repeat(size) },
  }),
];
