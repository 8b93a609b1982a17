import * as fc from 'fast-check';
import { derElements } from '../../../src/shared/certificates/der.ts';
import { readRequest } from '../../../src/pilot-discovery/ca/read-request.ts';
import { csrPem, goodKeys, testCsr } from '../../support/test-csr.ts';
import { fuzzed } from '../parser.ts';

const real = Object.values(goodKeys).map(([pair, kind]) => testCsr(pair, kind));
/** A real request with some changed bytes, cut off or extended. */
const broken = fc
  .record({
    bytes: fc.constantFrom(...real),
    changes: fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 4 }),
    length: fc.nat(800),
  })
  .map(({ bytes, changes, length }) => {
    const copy = Buffer.concat([bytes, Buffer.alloc(200)]);
    for (const [place, byte] of changes) copy[place % bytes.length] = byte;
    return copy.subarray(0, length < 600 ? bytes.length : length);
  });

export const certificateRequests = [
  fuzzed({
    name: 'requests for certificates',
    inputs: fc.oneof(
      broken.map((bytes) => csrPem(bytes)),
      fc.uint8Array({ maxLength: 400 }).map((bytes) => csrPem(bytes)),
      fc.string({ unit: 'binary' }),
    ),
    parse: readRequest,
    growing: {
      'lines of PEM': (size) => csrPem(Buffer.alloc(size * 4)),
      'elements in elements': (size) => csrPem(Buffer.from('3080'.repeat(size), 'hex')),
      'blocks without an end': (size) => '-----BEGIN CERTIFICATE REQUEST-----\n'.repeat(size),
      'a block with blanks': (size) =>
        `-----BEGIN CERTIFICATE REQUEST-----\n${' \n'.repeat(size)}-----END`,
    },
    size: 200,
  }),
  fuzzed({
    name: 'DER',
    inputs: fc.oneof(
      broken,
      fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
    ),
    parse: derElements,
    growing: {
      'empty elements': (size) => Buffer.from('0500'.repeat(size), 'hex'),
      'a large element': (size) =>
        Buffer.concat([Buffer.from('3082ffff', 'hex'), Buffer.alloc(size)]),
    },
  }),
];
