import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readObject } from '../../../../src/pilot-discovery/istio/documents/read-resources.ts';
import { configKinds, type ConfigKind } from '../../../../src/pilot-discovery/mcp/config-types.ts';
import { readBody } from '../../../../src/pilot-discovery/mcp/read-body.ts';
import { writeMessage } from '../../../../src/pilot-discovery/mcp/write-message.ts';
import { AuthorizationPolicySchema } from '../../../../src/shared/proto/istio/security/v1beta1/authorization_policy_pb.ts';
import { cases, resourceOf } from '../../../verdicts/cases.ts';

interface Written {
  readonly kind: string;
  readonly metadata: object;
  readonly spec: unknown;
}

const folder = 'test/differential/folders';
const ofFolders = readdirSync(folder).flatMap((file) =>
  parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document, index) => ({
    name: `${file}, document ${index}`,
    resource: document.toJS() as Written,
  })),
);
const ofCases = cases.map((testCase) => ({
  name: `${testCase.kind}: ${testCase.name}`,
  resource: resourceOf(testCase),
}));

const isConfig = (kind: string): kind is ConfigKind =>
  (configKinds as readonly string[]).includes(kind);

const read = (value: unknown) =>
  readObject(value, { source: 'test', path: '', defaultNamespace: 'default' });

/** Removes members that are 0: a message does not record whether a 0 was written. */
const withoutZeros = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, member: unknown) => (member === 0 ? undefined : member)));

describe('a resource that was sent as a message', () => {
  it('is read as the resource itself: all of the folders and cases of other tests', () => {
    const good = [...ofFolders, ...ofCases].filter(
      ({ resource }) => isConfig(resource.kind) && read(resource).resources.length === 1,
    );
    const kinds = new Set(good.map(({ resource }) => resource.kind));
    expect(good.length).toBeGreaterThan(500);
    expect([...configKinds].filter((kind) => !kinds.has(kind))).toEqual(['ProxyConfig']);
    for (const { name, resource } of good) {
      const { kind, spec } = resource as Written & { readonly kind: ConfigKind };
      const sent = { ...resource, spec: readBody(kind, writeMessage(kind, spec)) };
      const [before, after] = [resource, sent].map((form) => read(form).resources[0]?.spec);
      expect(withoutZeros(after), name).toEqual(withoutZeros(before));
    }
  });

  it('keeps a field that is not known at its place, so that its reader refuses it', () => {
    const policy = toBinary(
      AuthorizationPolicySchema,
      create(AuthorizationPolicySchema, { rules: [{ when: [{ key: 'a', values: ['b'] }] }] }),
    );
    const unknown = new BinaryWriter().tag(99, WireType.LengthDelimited).string('more').finish();
    const rule = new BinaryWriter().tag(2, WireType.LengthDelimited).bytes(unknown).finish();
    const body = {
      typeUrl: 'type.googleapis.com/istio.security.v1beta1.AuthorizationPolicy',
      value: Buffer.concat([policy, unknown, rule]),
    };
    expect(readBody('AuthorizationPolicy', body)).toEqual({
      rules: [{ when: [{ key: 'a', values: ['b'] }] }, { 'field 99': '(not known)' }],
      'field 99': '(not known)',
    });
  });

  it.each([
    ['another message', 'istio.networking.v1alpha3.Gateway', new Uint8Array(), /its body is/],
    [
      'bytes that are not a message',
      'istio.networking.v1alpha3.Sidecar',
      Buffer.from([0xff, 0xff]),
      /cannot be decoded/,
    ],
    [
      'a name that changes the object of a map',
      'istio.networking.v1alpha3.Sidecar',
      Buffer.from('__proto__'),
      /a name that is not accepted/,
    ],
  ])('is not read from %s', (_, message, value, reason) => {
    const typeUrl = `type.googleapis.com/${message}`;
    expect(() => readBody('Sidecar', { typeUrl, value })).toThrow(reason);
  });
});
