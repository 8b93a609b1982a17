import { create, type DescMessage, type Message, type MessageInitShape } from '@bufbuild/protobuf';
import { anyPack, type Any } from '@bufbuild/protobuf/wkt';

/** What a message is made of, before it is one. */
export type Init<D extends DescMessage> = Exclude<MessageInitShape<D>, Message>;

/** A message as a filter, a socket or a predicate has it: `typed_config`, of a oneof. */
export interface TypedConfig {
  readonly name: string;
  readonly configType: { readonly case: 'typedConfig'; readonly value: Any };
}

/** A message as the value of an Any, encoded. */
export function packed<D extends DescMessage>(schema: D, init?: MessageInitShape<D>): Any {
  return anyPack(schema, create(schema, init));
}

/** A named extension of Envoy with its configuration. */
export function typedConfig<D extends DescMessage>(
  name: string,
  schema: D,
  init?: MessageInitShape<D>,
): TypedConfig {
  return { name, configType: { case: 'typedConfig', value: packed(schema, init) } };
}
