import {
  asyncScheduler,
  defaultIfEmpty,
  map,
  type Observable,
  type SchedulerLike,
  switchMap,
  takeUntil,
  timer,
} from 'rxjs';
import { type MetadataServer, platformLimit } from './metadata-server.ts';
import { type Platform, unknownPlatform } from './cloud.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/** In ms. If the machine permits only one hop, the token never reaches a container. */
const tokenTimeoutMs = 1_000;

/**
 * Reads this machine's identity from EC2's metadata server. Emits once, when the server has
 * answered or after 5 s, and completes. Asks with a token (IMDSv2), or without one if no token
 * comes within 1 s. The keys are those of the Go agent 1.6. Cold, never errors.
 */
export function amazonPlatform(
  server: MetadataServer,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Platform> {
  return server
    .ask('/latest/api/token', {
      method: 'PUT',
      headers: { 'X-aws-ec2-metadata-token-ttl-seconds': '60' },
    })
    .pipe(
      takeUntil(timer(tokenTimeoutMs, scheduler)),
      defaultIfEmpty(undefined),
      switchMap((token) =>
        server.ask('/latest/dynamic/instance-identity/document', {
          headers: token === undefined ? {} : { 'X-aws-ec2-metadata-token': token },
        }),
      ),
      map((document) => (document === undefined ? unknownPlatform : read(document))),
      takeUntil(timer(platformLimit, scheduler)),
      defaultIfEmpty(unknownPlatform),
    );
}

function read(document: string): Platform {
  const {
    region = '',
    availabilityZone: zone = '',
    instanceId = '',
    accountId = '',
  } = parse(document);
  const values = {
    aws_region: region,
    aws_availability_zone: zone,
    aws_instance_id: instanceId,
    aws_account_id: accountId,
  };
  return {
    metadata: Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '')),
    locality: { region, zone, subZone: '' },
  };
}

/** Returns the text members of a JSON object. */
function parse(document: string): Readonly<Partial<Record<string, string>>> {
  try {
    const value: unknown = parseJson(document);
    const members = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return Object.fromEntries(
      members.filter((member): member is [string, string] => typeof member[1] === 'string'),
    );
  } catch {
    return {};
  }
}
