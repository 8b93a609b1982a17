// Why: docs/decisions/114-control-planes-read-from-this-one.md
import type { ResourceBody, WriteBody } from '../istio/documents/model.ts';
import { type ConfigKind, configKinds } from './config-types.ts';
import { writeMessage } from './write-message.ts';

/** The type of a body that is a whole document, as JSON. Istio does not have it. */
export const documentType = 'type.googleapis.com/pilot_discovery.Document';

/**
 * Returns a resource as other control planes get it; undefined for a kind that they do not get. A
 * good resource is a message of Istio's API. The body of a refused resource, which closes what it
 * would restrict, is its document: a reader then refuses it for the same mistakes, and closes the
 * same. If a good resource does not fit the message, its body is its document too. Pure.
 */
export const writeBody: WriteBody = (kind, document, verdict) => {
  if (!isConfigKind(kind)) return undefined;
  if (verdict === 'refused') return documentBody(document);
  try {
    return writeMessage(kind, document['spec']);
  } catch {
    return documentBody(document);
  }
};

const isConfigKind = (kind: string): kind is ConfigKind =>
  (configKinds as readonly string[]).includes(kind);

/**
 * A document that is not JSON becomes an empty text: a reader refuses it, and closes what it would
 * restrict.
 */
function documentBody(document: unknown): ResourceBody {
  try {
    return { typeUrl: documentType, value: Buffer.from(JSON.stringify(document)) };
  } catch {
    return { typeUrl: documentType, value: new Uint8Array() };
  }
}
