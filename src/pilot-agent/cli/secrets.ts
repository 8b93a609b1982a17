import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { grpcClient } from '../../shared/grpc/grpc-client.ts';
import { grpcDefinition } from '../../shared/grpc/grpc-definition.ts';
import {
  type ListSecretsResponse,
  SecretsService,
  type SecretSummary,
} from '../../shared/proto/pilotagent/v1/secrets_pb.ts';
import { flags } from '../config/flags.ts';
import { printable, printableJson } from '../../shared/log/printable.ts';
import { exitCodes, Fatal } from '../../shared/program/exit.ts';
import { byFolder, nobodyHere, theAgent } from './the-agent.ts';

/** The time limit of an answer. In ms. */
const timeoutMs = 5_000;

export interface SecretsOptions {
  /**
   * `--configPath` of an agent. If left out: that of the agent that runs here, else the default.
   */
  readonly configPath?: string;
  readonly output?: string;
}

/**
 * `pilot-agent secrets`: prints the secrets that the agent serves, never a key. Rejects with a
 * {@link Fatal} if no agent answers.
 */
export async function printSecrets({ configPath, output }: SecretsOptions): Promise<void> {
  const agent = configPath === undefined ? await theAgent(byFolder) : undefined;
  const folder = configPath ?? agent?.configPath ?? flags.configPath.default;
  const socket = resolve(folder, 'SDS');
  const alone = configPath === undefined && agent === undefined ? `${nobodyHere}, and ` : '';
  if (!existsSync(socket))
    throw new Fatal(
      `${alone}${socket} is not there: no agent serves secrets in ${folder}: name the folder of one by --configPath`,
      exitCodes.unavailable,
    );
  const { secrets } = await ask(socket);
  process.stdout.write(
    output === 'json'
      ? `${printableJson(JSON.stringify(secrets.map(plain), undefined, 2))}\n`
      : printable(secrets.map(page).join('\n')),
  );
}

async function ask(socket: string): Promise<ListSecretsResponse> {
  const grpc = await import('@grpc/grpc-js');
  const { listSecrets } = grpcDefinition(SecretsService);
  if (listSecrets === undefined) throw new Error('the service has no such method');
  const client = grpcClient(grpc, `unix:${socket}`, grpc.credentials.createInsecure());
  return new Promise<ListSecretsResponse>((done, fail) => {
    const { path, requestSerialize, responseDeserialize } = listSecrets;
    const request = { $typeName: 'pilotagent.v1.ListSecretsRequest' };
    client.makeUnaryRequest(
      path,
      requestSerialize,
      responseDeserialize,
      request,
      { deadline: Date.now() + timeoutMs },
      (error, answer) => {
        if (error !== null)
          fail(new Fatal(`${socket}: no agent answers: ${error.details}`, exitCodes.unavailable));
        else done(answer as ListSecretsResponse);
      },
    );
  }).finally(() => client.close());
}

function plain({ name, source, version, refused, certificates }: SecretSummary) {
  return {
    name,
    source,
    version,
    ...(refused !== '' && { refused }),
    certificates: certificates.map(
      ({ subject, subjectAltNames, serialNumber, notBefore, notAfter }) => {
        return {
          subject,
          subjectAltNames,
          serialNumber,
          notBefore: date(notBefore),
          notAfter: date(notAfter),
        };
      },
    ),
  };
}

function page(secret: SecretSummary): string {
  const { name, source, version, refused, certificates } = secret;
  const lines = [
    name,
    `  source   ${source}`,
    `  version  ${version === '' ? 'none' : version}`,
    ...(refused === '' ? [] : [`  refused  ${refused}`]),
    ...certificates.flatMap(({ subject, subjectAltNames, serialNumber, notBefore, notAfter }) => [
      `  ${subject === '' ? '(no subject)' : subject}`,
      ...(subjectAltNames === '' ? [] : [`    names   ${subjectAltNames}`]),
      `    serial  ${serialNumber}`,
      `    valid   ${date(notBefore)} to ${date(notAfter)}`,
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

function date(ms: bigint): string {
  return new Date(Number(ms)).toISOString();
}
