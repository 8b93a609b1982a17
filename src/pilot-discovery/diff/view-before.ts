import type { JsonObject } from '@bufbuild/protobuf';
import type { VersionedView, XdsResource } from '../push/view.ts';

/** A resource of a running control plane, as its `/debug/config_dump` prints it. */
export interface DumpedResource {
  readonly version: string;
  readonly json: JsonObject;
}

/** The resources of a type before a change: generated here, or printed by a control plane. */
export interface ViewBefore extends VersionedView {
  readonly resources: ReadonlyMap<string, XdsResource | DumpedResource>;
}
