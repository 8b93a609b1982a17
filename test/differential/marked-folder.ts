import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Istiod } from '../support/e2e/istiod.ts';
import type { Case } from './cases.ts';
import { servedTo } from './compare.ts';

/** A case with a service that distinguishes its folder from that of the case before. */
export interface MarkedCase extends Case {
  readonly number: number;
}

export const marked = (testCase: Case, number: number): MarkedCase => ({
  ...testCase,
  number,
  yaml: `${testCase.yaml}---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: marker, namespace: default }
spec: { hosts: [marker-${number}.mesh], ports: [{ number: 9999, name: tcp, protocol: TCP }], resolution: STATIC }
`,
});

/** Writes the folder of a case for istiod; resolves when istiod serves its content. */
export async function give(istiod: Istiod, port: number, markedCase: MarkedCase): Promise<void> {
  writeFileSync(join(istiod.folder, 'all.yaml'), markedCase.yaml);
  const isThere = async () =>
    JSON.stringify((await servedTo(markedCase, port, 'NONE')).cluster).includes(
      `marker-${markedCase.number}.mesh`,
    );
  await expect.poll(isThere).toBe(true);
}
