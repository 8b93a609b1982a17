import {
  asyncScheduler,
  combineLatest,
  concat,
  map,
  type Observable,
  of,
  type SchedulerLike,
  takeUntil,
  timer,
} from 'rxjs';
import type { Platform } from './cloud.ts';
import { type MetadataServer, platformLimit } from './metadata-server.ts';
import { googleLocality } from './node-id.ts';

const paths = {
  gcp_project: 'project/project-id',
  gcp_project_number: 'project/numeric-project-id',
  gcp_gke_cluster_name: 'instance/attributes/cluster-name',
  gcp_location: 'instance/attributes/cluster-location',
  gcp_gce_instance_id: 'instance/id',
  gcp_gce_instance_template: 'instance/attributes/instance-template',
  gcp_gce_instance_created_by: 'instance/attributes/created-by',
} as const;
const zonePath = 'instance/zone';

/**
 * Adds to `base` what Google Cloud's metadata server tells about this machine. Emits the values so
 * far, at once and with each answer. Completes when all answers are there, or after 5 s; values
 * without an answer are left out. The keys are those of the Go agent 1.6. Cold, never errors.
 */
export function googlePlatform(
  base: Platform,
  server: MetadataServer,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Platform> {
  function find(path: string): Observable<string | undefined> {
    const answer$ = server.ask(`/computeMetadata/v1/${path}`, {
      headers: { 'Metadata-Flavor': 'Google' },
    });
    return concat(of(undefined), answer$.pipe(takeUntil(timer(platformLimit, scheduler))));
  }
  const missing = Object.entries(paths).filter(([key]) => !Object.hasOwn(base.metadata, key));
  const answers$ = combineLatest([find(zonePath), ...missing.map(([, path]) => find(path))]);
  return answers$.pipe(
    map(([zoneName, ...answers]) => {
      const zone = zoneName?.split('/').at(-1); // projects/NUMBER/zones/ZONE
      const answered = missing.flatMap(([key], index) =>
        answers[index] === undefined ? [] : [[key, answers[index]] as const],
      );
      return {
        metadata: {
          ...(zone !== undefined && { gcp_location: zone }),
          ...Object.fromEntries(answered),
          ...base.metadata,
        },
        locality: zone === undefined ? base.locality : googleLocality(zone),
      };
    }),
  );
}
