/** What is put over a configuration so that Envoy's admin endpoint is at `port`: `override`, YAML or JSON or '', with the address in it. */
export async function adminOverride(override: string, host: string, port: number): Promise<string> {
  const given = override === '' ? {} : asObject((await import('yaml')).parse(override));
  const address = { socket_address: { address: host, port_value: port } };
  return JSON.stringify({ ...given, admin: { ...asObject(given['admin']), address } });
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
