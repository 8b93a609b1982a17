import { create, toBinary } from '@bufbuild/protobuf';
import * as fc from 'fast-check';
import { NEVER } from 'rxjs';
import { workloadIdentity } from '../../../src/pilot-agent/secrets/ca/issue-certificate.ts';
import { setFlaws } from '../../../src/pilot-agent/secrets/certificates.ts';
import { pemCertificates } from '../../../src/shared/certificates/key-pair-flaw.ts';
import { gatewayFolder, gatewaySecrets } from '../../../src/pilot-agent/secrets/gateway-secrets.ts';
import { findSecret } from '../../../src/pilot-agent/secrets/secret-book.ts';
import { crlFile } from '../../../src/pilot-agent/secrets/with-crl.ts';
import { secretTypeUrl } from '../../../src/pilot-agent/secrets/sds/sds-messages.ts';
import {
  readBundle,
  readSvid,
} from '../../../src/pilot-agent/secrets/workload-socket/read-answer.ts';
import { SecretSchema } from '../../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import { DiscoveryResponseSchema } from '../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { bundleOf } from '../../support/workload-socket.ts';
import { fuzzed, textOf } from '../parser.ts';

const begin = '-----BEGIN CERTIFICATE-----\n';
const end = '-----END CERTIFICATE-----\n';
const find = findSecret({
  crl: crlFile(''),
  workload$: NEVER,
  files: () => NEVER,
  gateway: gatewaySecrets(gatewayFolder('/gateway', { files: () => NEVER })),
});
const jwt = (claims: unknown) =>
  `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

export const secrets = [
  fuzzed({
    name: 'PEM',
    inputs: textOf(
      begin,
      end,
      'MIIB',
      'AAAA\n',
      '-----BEGIN PRIVATE KEY-----\n',
      '-----END PRIVATE KEY-----\n',
      '-',
      '\n',
      '\0',
    ),
    parse: (text) => [
      pemCertificates(text),
      setFlaws({ pair: { chain: text, key: Buffer.from(text) }, roots: text }, 0),
      setFlaws({ pair: { chain: text, key: Buffer.alloc(0) } }, 0),
    ],
    size: 200,
    growing: {
      certificates: (size) => `${begin}AAAA\n${end}`.repeat(size),
      begins: (size) => begin.repeat(size),
      'a long block': (size) => `${begin}${'AAAA\n'.repeat(size * 10)}${end}`,
      dashes: (size) => '-'.repeat(size * 20),
      blanks: (size) => ' '.repeat(size * 20),
    },
  }),
  fuzzed({
    name: 'tokens',
    inputs: fc.oneof(
      fc.string(),
      fc.jsonValue().map(jwt),
      textOf('system:serviceaccount:', ':', '/', 'ns').map((sub) => jwt({ sub })),
      textOf('e30', '.', 'bnVsbA', '='),
    ),
    parse: (text) => workloadIdentity(text, 'cluster.local'),
    growing: {
      dots: (size) => '.'.repeat(size),
      claims: (size) => jwt({ sub: `system:serviceaccount:${'a'.repeat(size)}` }),
      colons: (size) => jwt({ sub: `system:serviceaccount:${':'.repeat(size)}` }),
    },
  }),
  fuzzed({
    name: 'names of secrets',
    inputs: textOf(
      'file-cert:',
      'file-root:',
      '~',
      '/',
      '..',
      '/proc/',
      'default',
      'ROOTCA',
      '-cacert',
      'a',
      '.',
      '\0',
      'kubernetes://',
    ),
    parse: find,
    growing: {
      'parts of a path': (size) => `file-root:${'/..'.repeat(size)}`,
      tildes: (size) => `file-cert:${'~'.repeat(size)}`,
      'a name': (size) => 'a-'.repeat(size),
      dots: (size) => `a${'.'.repeat(size)}`,
    },
  }),
  fuzzed({
    name: 'answers of a workload socket',
    inputs: fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((value) => answerOf(value)),
      fc.string({ maxLength: 60 }).map((pem) => answerOf(sentSecret(pem))),
      fc
        .array(fc.string({ maxLength: 12 }), { maxLength: 4 })
        .map((names) =>
          answerOf(
            toBinary(
              SecretSchema,
              bundleOf(Object.fromEntries(names.map((name) => [name, begin]))),
            ),
          ),
        ),
    ),
    parse: (answer) => [
      readSvid(answer, 'default', { trustDomain: undefined, now: 0 }),
      readBundle(answer, 'ROOTCA'),
    ],
    size: 200,
    growing: {
      certificates: (size) => answerOf(sentSecret(`${begin}AAAA\n${end}`.repeat(size))),
      'bytes of nothing': (size) => answerOf(new Uint8Array(size * 20)),
      'trust domains': (size) =>
        answerOf(
          toBinary(
            SecretSchema,
            bundleOf(
              Object.fromEntries(Array.from({ length: size }, (_, index) => [`d${index}`, begin])),
            ),
          ),
        ),
    },
  }),
];

function answerOf(value: Uint8Array) {
  return create(DiscoveryResponseSchema, { resources: [{ typeUrl: secretTypeUrl, value }] });
}

function sentSecret(pem: string): Uint8Array {
  const source = { specifier: { case: 'inlineBytes', value: Buffer.from(pem) } } as const;
  return toBinary(
    SecretSchema,
    create(SecretSchema, {
      name: 'default',
      type: {
        case: 'tlsCertificate',
        value: { certificateChain: source, privateKey: source },
      },
    }),
  );
}
