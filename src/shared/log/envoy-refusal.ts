/**
 * The start of Envoy 1.36's message when it refuses its configuration: at a start, and in a check.
 */
const begun = /^error (?:`|initializing configuration[: ])/;
const forms = [
  /^error initializing configuration(?: '.*?')?: (?<reason>.*)$/s,
  /^error `(?<reason>.*)` initializing config '.*$/s,
];
/** Envoy puts the whole configuration before this text, which ends its message. */
const constraint = 'Proto constraint validation failed (';
/** Here Envoy puts the whole configuration after its reason. */
const repeated =
  /^(Unable to parse JSON as proto \(.*?\)): *(?:[{["].*|null|true|false|-?[\d.]+)?$|^(Unable to convert YAML as JSON): .*$/s;

/**
 * Whether a message of Envoy's log, or the first line of one, is a refusal of its configuration.
 * Pure.
 */
export function isRefusal(message: string): boolean {
  return begun.test(message);
}

/**
 * Returns the reason in a message of Envoy's log that refuses a configuration, on one line and in
 * Envoy's words; undefined for any other message. Pure.
 *
 * Envoy 1.36 repeats the whole configuration, including inline keys: that is left out.
 */
export function refusalOf(message: string): string | undefined {
  if (!isRefusal(message)) return undefined;
  const reason =
    forms
      .map((form) => form.exec(message)?.groups?.['reason'])
      .find((words) => words !== undefined) ?? message;
  const start = reason.lastIndexOf(constraint);
  return (start < 0 ? reason.replace(repeated, '$1$2') : reason.slice(start))
    .replace(/\s+/g, ' ')
    .trim();
}

/** Returns a message of Envoy's log without the configuration that it repeats. Pure. */
export function withoutConfiguration(message: string): string {
  const reason = refusalOf(message);
  return reason === undefined ? message : `error initializing configuration: ${reason}`;
}
