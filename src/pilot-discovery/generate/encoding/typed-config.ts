import { create, type DescMessage, type Message, type MessageInitShape } from '@bufbuild/protobuf';
import { anyPack, type Any } from '@bufbuild/protobuf/wkt';

/** The fields of a message, before it is created. */
export type Init<D extends DescMessage> = Exclude<MessageInitShape<D>, Message>;

/** A message in `typed_config` of a oneof, as filters, sockets and predicates have it. */
export interface TypedConfig {
  readonly name: string;
  readonly configType: { readonly case: 'typedConfig'; readonly value: Any };
}

/** Returns an encoded message in an Any. */
export function packed<D extends DescMessage>(schema: D, init?: MessageInitShape<D>): Any {
  return anyPack(schema, create(schema, init));
}

/** Returns a named extension of Envoy with its configuration. */
export function typedConfig<D extends DescMessage>(
  name: string,
  schema: D,
  init?: MessageInitShape<D>,
): TypedConfig {
  return { name, configType: { case: 'typedConfig', value: packed(schema, init) } };
}
