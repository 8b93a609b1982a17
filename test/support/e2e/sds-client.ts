import { type ClientDuplexStream, Client, credentials, Metadata } from '@grpc/grpc-js';
import {
  create,
  fromBinary,
  type DescMessage,
  type Message,
  type MessageInitShape,
} from '@bufbuild/protobuf';
import { SecretSchema } from '../../../src/shared/proto/envoy/extensions/transport_sockets/tls/v3/secret_pb.ts';
import {
  DeltaDiscoveryRequestSchema,
  type DeltaDiscoveryResponse,
  DiscoveryRequestSchema,
  type DiscoveryResponse,
} from '../../../src/shared/proto/envoy/service/discovery/v3/discovery_pb.ts';
import { SecretDiscoveryService } from '../../../src/shared/proto/envoy/service/secret/v3/sds_pb.ts';
import { grpcDefinition } from '../../../src/shared/grpc/grpc-definition.ts';
import { secretTypeUrl } from '../../../src/pilot-agent/secrets/sds/sds-messages.ts';
import { eventually } from '../eventually.ts';

/** The fields of a message that are set. The others are empty. */
type Init<Schema extends DescMessage> = Exclude<MessageInitShape<Schema>, Message>;

const methods = grpcDefinition(SecretDiscoveryService);

/** The responses of a stream so far, and the function that sends requests on it. */
export interface TestStream<Request extends object, Response> {
  readonly answers: readonly Response[];
  /** Returns the reason of its end; undefined while it is open. */
  readonly ended: () => string | undefined;
  send(request: Request): void;
  /** Resolves to the `n`th response; the first one has number 1. */
  answer(n: number): Promise<Response>;
}

/**
 * Returns a client of the secret discovery server that works like Envoy, but that the test
 * controls.
 */
export function sdsClient(socket: string) {
  const calls: { cancel(): void }[] = [];
  const client = new Client(`unix:${socket}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });

  function open<Request extends object, Response>(
    name: string,
    fill: (request: Request) => object,
  ): TestStream<Request, Response> {
    const method = methods[name];
    if (method === undefined) throw new Error(`no method ${name}`);
    const metadata = new Metadata();
    metadata.set('authorization', 'Bearer token');
    const call = client.makeBidiStreamRequest(
      method.path,
      method.requestSerialize,
      method.responseDeserialize,
      metadata,
    ) as unknown as ClientDuplexStream<object, Response>;
    calls.push(call);
    const answers: Response[] = [];
    let ended: string | undefined;
    call.on('data', (answer: Response) => answers.push(answer));
    call.on('error', (error: Error) => (ended = error.message));
    call.on('end', () => (ended ??= 'end'));
    return {
      answers,
      ended: () => ended,
      send: (request) => void call.write(fill(request)),
      answer: (n) => eventually(() => answers[n - 1]),
    };
  }

  return {
    stream: () =>
      open<Init<typeof DiscoveryRequestSchema>, DiscoveryResponse>('streamSecrets', (request) =>
        create(DiscoveryRequestSchema, {
          typeUrl: secretTypeUrl,
          node: { id: 'sidecar~127.0.0.1~id1~local' },
          ...request,
        }),
      ),
    delta: () =>
      open<Init<typeof DeltaDiscoveryRequestSchema>, DeltaDiscoveryResponse>(
        'deltaSecrets',
        (request) =>
          create(DeltaDiscoveryRequestSchema, {
            typeUrl: secretTypeUrl,
            node: { id: 'sidecar~127.0.0.1~id1~local' },
            ...request,
          }),
      ),
    fetch: (...resourceNames: readonly string[]) =>
      new Promise<DiscoveryResponse>((done, fail) => {
        const { path, requestSerialize, responseDeserialize } = methods['fetchSecrets'] ?? {};
        if (
          path === undefined ||
          requestSerialize === undefined ||
          responseDeserialize === undefined
        )
          throw new Error('no fetch');
        const request = create(DiscoveryRequestSchema, {
          typeUrl: secretTypeUrl,
          resourceNames: [...resourceNames],
        });
        client.makeUnaryRequest(
          path,
          requestSerialize,
          responseDeserialize,
          request,
          (error, answer) => {
            if (error !== null) fail(error);
            else done(answer as DiscoveryResponse);
          },
        );
      }),
    close: () => {
      for (const call of calls) call.cancel();
      client.close();
    },
  };
}

/** Returns the secrets in a response: name → PEM of the chain and key, or of the roots. */
export function secretsIn({ resources }: DiscoveryResponse): Readonly<Record<string, string>> {
  return Object.fromEntries(
    resources.map(({ value }) => {
      const { name, type } = fromBinary(SecretSchema, value);
      const bytes =
        type.case === 'tlsCertificate'
          ? [type.value.certificateChain, type.value.privateKey]
          : type.case === 'validationContext'
            ? [type.value.trustedCa]
            : [];
      return [
        name,
        bytes
          .map((source) => Buffer.from(source?.specifier.value ?? new Uint8Array()).toString())
          .join(''),
      ];
    }),
  );
}
