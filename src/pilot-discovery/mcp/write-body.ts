// Why: docs/decisions/114-control-planes-read-from-this-one.md
import type { ResourceBody, WriteBody } from '../istio/documents/model.ts';
import { type ConfigKind, configKinds } from './config-types.ts';
import { writeMessage } from './write-message.ts';

/** The type of a body that is a whole document, as JSON. Istio does not have it. */
export const documentType = 'type.googleapis.com/pilot_discovery.Document';

/**
 * Returns a resource as other control planes get it; undefined for a kind that they do not get. A
 * good resource is a message of Istio's API. For a refused one, which closes what it would
 * restrict, the body is its document. So a reader refuses it for the same mistakes, and closes the
 * same. If a good one does not fit the message, its body is its document too. Pure.
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

/** A document that is not JSON becomes an empty text: a reader refuses it, and closes. */
function documentBody(document: unknown): ResourceBody {
  try {
    return { typeUrl: documentType, value: Buffer.from(JSON.stringify(document)) };
  } catch {
    return { typeUrl: documentType, value: new Uint8Array() };
  }
}
