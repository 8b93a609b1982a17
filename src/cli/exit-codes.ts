/** The agent's own exit codes; Envoy's own code, or 128 + n for a signal, stands for itself. Numbers: sysexits.h. */
export const exitCodes = {
  /** Asked to stop, or the last Envoy ended cleanly. */
  ok: 0,
  /** Envoy has refused what `request` asked of it. */
  refused: 1,
  /** A bad flag or role. */
  usage: 64,
  /** A port, or the Envoy binary, is not to be had. */
  unavailable: 69,
  /** A bug. */
  software: 70,
  /** A bad configuration or bootstrap. */
  config: 78,
} as const;
