import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import type { Resource } from './kube-server.ts';

const file = 'deploy/kubernetes/control-plane.yaml';

const deployed = (): readonly Resource[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as Resource);

/** The rights of the control plane; without the rules that name a text, if there is one. */
export const deployedRights = (without?: string): readonly Resource[] =>
  deployed()
    .filter(({ apiVersion }) => apiVersion.startsWith('rbac.'))
    .map((resource) => ({
      ...resource,
      rules: (resource['rules'] as readonly object[] | undefined)?.filter(
        (rule) => without === undefined || !JSON.stringify(rule).includes(without),
      ),
    }));
