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

/** In ms. From within a container the token never comes where the machine permits one hop only. */
const tokenTimeoutMs = 1_000;

/**
 * What EC2's metadata server says of this machine. Emits once, when it has answered or after 5 s,
 * and completes. It is asked with a token (IMDSv2); if there is none within 1 s, without. The keys
 * are those of the Go agent 1.6. Cold, never errors.
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

/** The texts of a JSON object. */
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
