import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Resource } from './kube-server.ts';

const file = 'deploy/kubernetes/control-plane.yaml';

const deployed = (): readonly Resource[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Resource);

/**
 * Returns the RBAC resources of the control plane. Leaves out the rules that contain the text
 * `without`, unless it is undefined.
 */
export const deployedRights = (without?: string): readonly Resource[] =>
  deployed()
    .filter(({ apiVersion }) => apiVersion.startsWith('rbac.'))
    .map((resource) => ({
      ...resource,
      rules: (resource['rules'] as readonly object[] | undefined)?.filter(
        (rule) => without === undefined || !JSON.stringify(rule).includes(without),
      ),
    }));
