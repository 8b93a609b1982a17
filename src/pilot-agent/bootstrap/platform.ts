import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  asyncScheduler,
  concat,
  defer,
  distinctUntilChanged,
  EMPTY,
  type Observable,
  of,
  type SchedulerLike,
  switchMap,
} from 'rxjs';
import { amazonPlatform } from './amazon-platform.ts';
import { cloudOf, knownPlatform, type MachineSigns, type Platform } from './cloud.ts';
import { googlePlatform } from './google-platform.ts';
import { metadataServer } from './metadata-server.ts';

export interface PlatformInputs {
  /** `GCP_METADATA`. */
  readonly gcpMetadata: string;
  /** `GCE_METADATA_HOST`, a host with or without a port. */
  readonly metadataHost: string;
  /** The folder with the machine's signs (`/sys`). */
  readonly sys?: string;
  /** Amazon's metadata server. */
  readonly amazonAddress?: string;
}

/** The default address of both clouds' metadata servers. */
const linkLocal = '169.254.169.254';

/**
 * Emits the cloud that this machine belongs to: at once what is known without a request, then what
 * the cloud's metadata server adds, if there is one. Then completes.
 *
 * A metadata server is asked only if firmware, hypervisor or one of the two variables show that
 * there is one, for at most 5 s. The Go agent asks two of them before each start of Envoy, which
 * waits for them. Cold: each subscription asks once. Never errors.
 */
export function platform(
  { gcpMetadata, metadataHost, sys = '/sys', amazonAddress = linkLocal }: PlatformInputs,
  scheduler: SchedulerLike = asyncScheduler,
): Observable<Platform> {
  const configured = knownPlatform(gcpMetadata);
  const google$ = googlePlatform(
    configured,
    metadataServer(metadataHost === '' ? linkLocal : metadataHost),
    scheduler,
  );
  const learnt$ =
    gcpMetadata !== '' || metadataHost !== ''
      ? google$
      : defer(() => machineSigns(sys)).pipe(
          switchMap((signs) => {
            const cloud = cloudOf(signs);
            if (cloud === 'google') return google$;
            return cloud === 'amazon'
              ? amazonPlatform(metadataServer(amazonAddress), scheduler)
              : EMPTY;
          }),
        );
  return concat(of(configured), learnt$).pipe(distinctUntilChanged<Platform>(isDeepStrictEqual));
}

async function machineSigns(sys: string): Promise<MachineSigns> {
  const read = (path: string) =>
    readFile(`${sys}/${path}`, 'latin1').then(
      (text) => text.trim(),
      () => '',
    );
  const [productName, vendor, productVersion, productUuid, hypervisorUuid] = await Promise.all([
    read('class/dmi/id/product_name'),
    read('class/dmi/id/sys_vendor'),
    read('class/dmi/id/product_version'),
    read('class/dmi/id/product_uuid'),
    read('hypervisor/uuid'),
  ]);
  return { productName, vendor, productVersion, productUuid, hypervisorUuid };
}
