import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { type Observable, type SchedulerLike, Subject } from 'rxjs';
import { sweepUp } from '../../operators/sweep.ts';
import type { Variant } from '../../shared/xds/messages.ts';
import { secretTypeUrl } from '../../shared/xds/secret-names.ts';
import { isEmptyAssignment } from './empty-assignment.ts';
import type { Answer } from './proxy-stream.ts';
import type { XdsResource } from './view.ts';

/** A resource as an Any, and the entry of the incremental variant around it. */
interface Encoded {
  readonly any: Uint8Array;
  readonly entry: Uint8Array;
}

const encoded = new WeakMap<XdsResource, Encoded>();

/** Encodes a google.protobuf.Any. */
function anyOf(typeUrl: string, { body, bodyType }: XdsResource): Uint8Array {
  return new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(bodyType ?? typeUrl)
    .tag(2, WireType.LengthDelimited)
    .bytes(body)
    .finish();
}

/** Encodes an envoy.service.discovery.v3.Resource. */
function entryOf({ version, name }: XdsResource, any: Uint8Array): Uint8Array {
  return new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(version)
    .tag(2, WireType.LengthDelimited)
    .bytes(any)
    .tag(3, WireType.LengthDelimited)
    .string(name)
    .finish();
}

/** Encodes each resource once, for all proxies that get it. */
function encodedOf(typeUrl: string, resource: XdsResource): Encoded {
  const earlier = encoded.get(resource);
  if (earlier !== undefined) return earlier;
  const any = anyOf(typeUrl, resource);
  const encoding = { any, entry: entryOf(resource, any) };
  encoded.set(resource, encoding);
  return encoding;
}

/** Returns an element of `resources` in an answer. */
function itemOf(typeUrl: string, resource: XdsResource, variant: Variant): Uint8Array {
  // Only one proxy gets an empty assignment. The table is for resources that several proxies get.
  if (isEmptyAssignment(resource)) {
    const any = anyOf(typeUrl, resource);
    return variant === 'delta' ? entryOf(resource, any) : any;
  }
  const { any, entry } = encodedOf(typeUrl, resource);
  return variant === 'delta' ? entry : any;
}

/**
 * Encodes an answer as a DiscoveryResponse, or as a DeltaDiscoveryResponse (xDS v3).
 *
 * @param controlPlane the name of the control plane
 */
function encodeAnswer(
  { typeUrl, nonce, version, resources, removed }: Answer,
  variant: Variant,
  controlPlane: string,
): Buffer {
  const writer = new BinaryWriter().tag(1, WireType.LengthDelimited).string(version);
  for (const resource of resources)
    writer.tag(2, WireType.LengthDelimited).bytes(itemOf(typeUrl, resource, variant));
  writer
    .tag(4, WireType.LengthDelimited)
    .string(typeUrl)
    .tag(5, WireType.LengthDelimited)
    .string(nonce);
  for (const name of removed) writer.tag(6, WireType.LengthDelimited).string(name);
  const identifier = new BinaryWriter()
    .tag(1, WireType.LengthDelimited)
    .string(controlPlane)
    .finish();
  const bytes = writer
    .tag(variant === 'delta' ? 7 : 6, WireType.LengthDelimited)
    .bytes(identifier)
    .finish();
  // A copy of a short answer would keep the 8 KB of Node's pool that it is in.
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** The limits of the cache of answers that several proxies may get. */
const most = { answers: 1_000, bytes: 64 * 1024 * 1024 };

/** An answer that nobody gets for this time is dropped, after twice the time at most. In ms. */
const longest = 20_000;

/** Encodes answers; an answer that several proxies get is encoded once. */
export interface AnswerEncoder {
  readonly encode: (answer: Answer, variant: Variant) => Buffer;
  /**
   * Drops answers that are no longer used, while it is subscribed. Emits nothing, never completes.
   */
  readonly forget$: Observable<never>;
}

export function answerEncoder(controlPlane: string, scheduler: SchedulerLike): AnswerEncoder {
  const kept = new Map<string, Buffer>(); // the oldest first
  const kept$ = new Subject<void>();
  let used = new Set<string>();
  let size = 0;
  const forget = (key: string, { length }: Buffer): void => {
    kept.delete(key);
    size -= length;
  };
  const look = (): number => {
    for (const [key, bytes] of kept) if (!used.has(key)) forget(key, bytes);
    used = new Set();
    return kept.size;
  };
  const encode = (answer: Answer, variant: Variant): Buffer => {
    // Not cached: it is short, and all answers for types that are not served have the same nonce.
    // Secrets are not cached either: a key must not stay in memory longer than it is used.
    if (answer.resources.length === 0 || answer.typeUrl === secretTypeUrl)
      return encodeAnswer(answer, variant, controlPlane);
    const key = `${variant}${answer.nonce}`;
    used.add(key);
    const keptBytes = kept.get(key);
    if (keptBytes !== undefined) return keptBytes;
    const newBytes = encodeAnswer(answer, variant, controlPlane);
    kept.set(key, newBytes);
    size += newBytes.length;
    for (const [oldest, bytes] of kept) {
      if (kept.size <= most.answers && size <= most.bytes) break;
      forget(oldest, bytes);
    }
    kept$.next();
    return newBytes;
  };
  return { encode, forget$: sweepUp(kept$, longest, look, scheduler) };
}
