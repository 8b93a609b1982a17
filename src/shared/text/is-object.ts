/** Whether a value of JSON or YAML is an object: neither null nor a list. Pure. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
