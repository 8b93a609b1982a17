import type { ProxyConfig } from '../config/proxy-config.ts';
import type { Json } from './json.ts';
import { proxyConfigFields } from './proxy-config-fields.ts';

/** Values that the JSON of protobuf leaves out, for they are what is not there. */
const zeros = new Map<string, Json>([
  ['controlPlaneAuthPolicy', 'NONE'],
  ['mode', 'DISABLE'],
  ['maxNumberOfAttributes', '0'],
  ['maxNumberOfAnnotations', '0'],
  ['maxNumberOfMessageEvents', '0'],
]);

/**
 * What the control plane is told of a ProxyConfig, in the JSON of protobuf. Pure.
 *
 * No access token goes there (the Go agent sends it), and of `proxyMetadata` only what is node metadata anyway: the rest is environment.
 */
export function proxyConfigJson(config: ProxyConfig): Json {
  const proxyMetadata = Object.fromEntries(Object.entries(config.proxyMetadata).filter(([name]) => /^ISTIO_META(JSON)?_/.test(name)));
  const lightstep = config.tracing?.lightstep && { ...config.tracing.lightstep, accessToken: '' };
  const tracing = config.tracing && { ...config.tracing, lightstep };
  const { proxyMetadata: texts = {}, ...fields } = proxyConfigFields({ ...config, proxyMetadata, tracing });
  return withoutZeros({ ...fields, ...(Object.keys(proxyMetadata).length > 0 && { proxyMetadata: texts }) });
}

function withoutZeros(fields: Readonly<Record<string, Json>>): Json {
  const isZero = (name: string, value: Json) =>
    [undefined, '', 0, false, zeros.get(name)].includes(value) || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name, value]) => !isZero(name, value))
      .map(([name, value]) => [
        name,
        typeof value === 'object' && !Array.isArray(value) && name !== 'proxyMetadata'
          ? withoutZeros(value as Readonly<Record<string, Json>>)
          : value,
      ]),
  );
}
