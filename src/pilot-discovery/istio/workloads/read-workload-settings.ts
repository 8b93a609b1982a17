import { selector } from '../fields/match-labels.ts';
import {
  below,
  count,
  members,
  type ReadMember,
  text,
  texts,
  warn,
  wrong,
} from '../fields/members.ts';
import type { WorkloadSettings } from './workload-settings.ts';

/** The limit of the schema of Istio 1.26. */
const longest = 2_048;

/** Reads the variables of a proxy, by their names. */
const variables: ReadMember<Readonly<Record<string, string>>> = (value, place) => {
  const read = texts(value, place);
  for (const [name, content] of Object.entries(read)) {
    const variablePlace = below(place, name);
    if (name === '') wrong(place, 'a variable has no name');
    else if (!/^[-._A-Za-z][-._A-Za-z0-9]*$/.test(name))
      wrong(
        variablePlace,
        `'${name}' is not a valid name of a variable: Kubernetes refuses a pod with it`,
      );
    if (content.length > longest)
      wrong(variablePlace, `it has ${content.length} characters, and the limit is ${longest}`);
    if (content.includes('\0')) wrong(variablePlace, 'NUL cannot be in a variable');
  }
  return read;
};

const imageType: ReadMember<string> = (value, place) =>
  members(value, place, [], (get) => {
    const read = get('imageType', text);
    if (!/^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$/.test(read))
      wrong(below(place, 'imageType'), `'${read}' cannot be in the tag of an image`);
    return read;
  });

/** Reads a ProxyConfig resource, and warns that it has no effect here. */
export const readWorkloadSettings: ReadMember<WorkloadSettings> = (value, place) =>
  members(value, place, [], (get) => {
    const given = get('selector', selector('matchLabels'));
    if (given !== undefined && Object.keys(given).length === 0)
      warn(below(place, 'selector'), 'it has no labels, so it selects all workloads');
    warn(
      place,
      'it has no effect: injectors apply it, and there is none here. Give its settings to the agents: PROXY_CONFIG',
    );
    return {
      selector: given,
      concurrency: get('concurrency', count),
      environmentVariables: get('environmentVariables', variables),
      imageType: get('image', imageType),
    };
  });
