import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { lastValueFrom, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { platform, type PlatformInputs } from '../../../../src/pilot-agent/bootstrap/platform.ts';
import type { Platform } from '../../../../src/pilot-agent/bootstrap/cloud.ts';

const nowhere = { region: '', zone: '', subZone: '' };
const unknown = { metadata: {}, locality: nowhere };
const missing = '127.0.0.1:1';

let sys: string;
let servers: Server[];
let requests: IncomingMessage[];

/** Starts a server that serves only these pages, by method and path; returns its address. */
const serve = async (pages: Readonly<Record<string, string>>): Promise<string> => {
  const server = createServer((request, response) => {
    requests.push(request);
    const text = pages[`${request.method ?? ''} ${request.url ?? ''}`];
    if (text === undefined) response.writeHead(404).end('not found');
    else response.end(text);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const sign = (path: string, text: string) => {
  mkdirSync(dirname(join(sys, path)), { recursive: true });
  writeFileSync(join(sys, path), `${text}\n`);
};
/** Returns the first platform that is known, and the last one if there are more. */
const learn = async (inputs: Partial<PlatformInputs>): Promise<readonly Platform[]> => {
  const platforms$ = platform({
    gcpMetadata: '',
    metadataHost: '',
    sys,
    amazonAddress: missing,
    ...inputs,
  }).pipe(toArray());
  const platforms = await lastValueFrom(platforms$, { defaultValue: [] });
  return platforms.filter((_, index) => index === 0 || index === platforms.length - 1);
};

beforeEach(() => {
  sys = mkdtempSync(join(tmpdir(), 'platform-'));
  servers = [];
  requests = [];
});
afterEach(() => {
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
  rmSync(sys, { recursive: true });
});

describe('a machine of Google Cloud', () => {
  const root = 'GET /computeMetadata/v1';
  const pages = {
    gcp_project: [`${root}/project/project-id`, 'pid'],
    gcp_project_number: [`${root}/project/numeric-project-id`, 'npid'],
    gcp_location: [`${root}/instance/attributes/cluster-location`, 'location'],
    gcp_gke_cluster_name: [`${root}/instance/attributes/cluster-name`, ' cluster\n'],
    gcp_gce_instance_id: [`${root}/instance/id`, 'instance'],
    gcp_gce_instance_template: [
      `${root}/instance/attributes/instance-template`,
      'instanceTemplate',
    ],
    gcp_gce_instance_created_by: [`${root}/instance/attributes/created-by`, 'createdBy'],
  } as const;
  const zone = { [`${root}/instance/zone`]: 'projects/123/zones/us-central1-a' };
  const zonal = { region: 'us-central1', zone: 'us-central1-a', subZone: '' };
  const full = {
    gcp_project: 'pid',
    gcp_project_number: 'npid',
    gcp_location: 'location',
    gcp_gke_cluster_name: 'cluster',
    gcp_gce_instance_id: 'instance',
    gcp_gce_instance_template: 'instanceTemplate',
    gcp_gce_instance_created_by: 'createdBy',
  };
  const all = Object.fromEntries(Object.values(pages));

  it('is not asked for if neither a variable nor the firmware speaks of Google', async () => {
    await serve({ ...all, ...zone });
    expect(await learn({})).toEqual([unknown]);
    expect(requests).toEqual([]);
  });

  it('is known by all that its metadata server says, after nothing at once', async () => {
    const metadataHost = await serve({ ...all, ...zone });
    expect(await learn({ metadataHost })).toEqual([unknown, { metadata: full, locality: zonal }]);
    expect(requests.every(({ headers }) => headers['metadata-flavor'] === 'Google')).toBe(true);
    expect(requests).toHaveLength(8);
  });

  it.each([
    { key: 'gcp_project' },
    { key: 'gcp_project_number' },
    { key: 'gcp_location' },
    { key: 'gcp_gke_cluster_name' },
    { key: 'gcp_gce_instance_id' },
    { key: 'gcp_gce_instance_template' },
    { key: 'gcp_gce_instance_created_by' },
  ] as const)('lacks $key if the metadata server does, and nothing else', async ({ key }) => {
    const metadataHost = await serve(
      Object.fromEntries(Object.values(pages).filter(([path]) => path !== pages[key][0])),
    );
    const rest = Object.fromEntries(Object.entries(full).filter(([name]) => name !== key));
    expect(await learn({ metadataHost })).toEqual([unknown, { metadata: rest, locality: nowhere }]);
  });

  it('is where its zone is, if it is of no cluster', async () => {
    const metadataHost = await serve(zone);
    expect(await learn({ metadataHost })).toEqual([
      unknown,
      { metadata: { gcp_location: 'us-central1-a' }, locality: zonal },
    ]);
  });

  it('is what GCP_METADATA says at once, and the rest later', async () => {
    const metadataHost = await serve(all);
    const env = {
      gcp_project: 'env_pid',
      gcp_project_number: 'env_pn',
      gcp_gke_cluster_name: 'env_cluster',
      gcp_location: 'env_location',
    };
    const locality = { region: 'env_location', zone: '', subZone: '' };
    expect(
      await learn({ gcpMetadata: 'env_pid|env_pn|env_cluster|env_location', metadataHost }),
    ).toEqual([
      { metadata: env, locality },
      { metadata: { ...full, ...env }, locality },
    ]);
    expect(requests.map(({ url }) => url?.split('/').at(-1)).sort()).toEqual([
      'created-by',
      'id',
      'instance-template',
      'zone',
    ]);
  });

  it('has a locality by GCP_METADATA alone, and nothing more if nobody answers', async () => {
    const metadata = {
      gcp_project: 'p',
      gcp_gke_cluster_name: 'c',
      gcp_location: 'europe-west1-b',
    };
    expect(await learn({ gcpMetadata: 'p||c|europe-west1-b', metadataHost: missing })).toEqual([
      { metadata, locality: { region: 'europe-west1', zone: 'europe-west1-b', subZone: '' } },
    ]);
  });

  it.each(['p|n|c', 'p|n|c|l|x', 'p'])(
    'knows nothing at once by a GCP_METADATA that has not four parts: %s',
    async (gcpMetadata) => {
      const metadataHost = await serve(all);
      expect(await learn({ gcpMetadata, metadataHost })).toEqual([
        unknown,
        { metadata: full, locality: nowhere },
      ]);
    },
  );

  it('says nothing more if the host of the metadata server is none', async () => {
    expect(await learn({ metadataHost: 'not a host' })).toEqual([unknown]);
  });
});

describe('a machine of Amazon', () => {
  const documentPath = 'GET /latest/dynamic/instance-identity/document';
  const identity = {
    region: 'region',
    availabilityZone: 'zone',
    instanceId: 'instance',
    accountId: 'account',
    pendingTime: 1,
  };
  const v2 = (document: string) => ({ 'PUT /latest/api/token': 'token', [documentPath]: document });

  beforeEach(() => sign('class/dmi/id/sys_vendor', 'Amazon EC2'));

  it.each([
    { what: 'an empty identity', document: '{}', learnt: undefined },
    {
      what: 'region and zone',
      document: '{"region":"region","availabilityZone":"zone"}',
      learnt: {
        metadata: { aws_region: 'region', aws_availability_zone: 'zone' },
        locality: { region: 'region', zone: 'zone', subZone: '' },
      },
    },
    {
      what: 'all',
      document: JSON.stringify(identity),
      learnt: {
        metadata: {
          aws_region: 'region',
          aws_availability_zone: 'zone',
          aws_account_id: 'account',
          aws_instance_id: 'instance',
        },
        locality: { region: 'region', zone: 'zone', subZone: '' },
      },
    },
    { what: 'no JSON', document: '<html>', learnt: undefined },
    { what: 'JSON of another kind', document: 'null', learnt: undefined },
    {
      what: 'values of another kind',
      document: '{"region":1,"accountId":null}',
      learnt: undefined,
    },
  ])('is known by its identity document: $what', async ({ document, learnt }) => {
    const amazonAddress = await serve(v2(document));
    expect(await learn({ amazonAddress })).toEqual([
      unknown,
      ...(learnt === undefined ? [] : [learnt]),
    ]);
  });

  it('is asked for it with a token', async () => {
    const amazonAddress = await serve(v2('{}'));
    await learn({ amazonAddress });
    expect(
      requests.map(({ method, headers }) => [
        method,
        headers['x-aws-ec2-metadata-token-ttl-seconds'] ?? headers['x-aws-ec2-metadata-token'],
      ]),
    ).toEqual([
      ['PUT', '60'],
      ['GET', 'token'],
    ]);
  });

  it('is asked for it without, if no token is given (IMDSv1)', async () => {
    const amazonAddress = await serve({ [documentPath]: JSON.stringify(identity) });
    expect((await learn({ amazonAddress })).at(-1)?.metadata).toMatchObject({
      aws_instance_id: 'instance',
    });
    expect(requests.at(-1)?.headers).not.toHaveProperty('x-aws-ec2-metadata-token');
  });

  it('says nothing more if nobody answers', async () => {
    expect(await learn({})).toEqual([unknown]);
  });

  it.each([
    ['hypervisor/uuid', 'ec2abcde-0000'],
    ['class/dmi/id/product_uuid', 'EC2ABCDE-0000'],
    ['class/dmi/id/product_version', '4.2.amazon'],
  ])('is known for one by %s', async (path, text) => {
    rmSync(join(sys, 'class'), { recursive: true });
    const amazonAddress = await serve(v2(JSON.stringify(identity)));
    expect(await learn({ amazonAddress })).toEqual([unknown]);
    sign(path, text);
    expect(await learn({ amazonAddress })).toHaveLength(2);
  });
});

describe('a machine of nobody in particular', () => {
  it('is unknown, without a question to anyone', async () => {
    sign('class/dmi/id/product_name', 'Standard PC (Q35 + ICH9, 2009)');
    const amazonAddress = await serve({});
    expect(await learn({ amazonAddress })).toEqual([unknown]);
    expect(requests).toEqual([]);
  });
});
