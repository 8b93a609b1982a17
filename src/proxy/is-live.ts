/** What is asked of Envoy's `/server_info`. While a child comes up it is still its parent that answers. */
interface ServerInfo {
  readonly state?: string;
  readonly command_line_options?: { readonly base_id?: string; readonly restart_epoch?: number };
}

/** Whether an answer of `/server_info` says LIVE, and is of the epoch that is meant. */
export function isLive(body: string, meant: { readonly baseId: number; readonly restartEpoch: number } | undefined): boolean {
  const { state, command_line_options: options } = parseInfo(body);
  return state === 'LIVE' && options?.base_id === String(meant?.baseId) && options.restart_epoch === meant?.restartEpoch;
}

/** Somebody else may be where the admin endpoint is looked for, and answer what he likes. */
function parseInfo(body: string): ServerInfo {
  try {
    return (JSON.parse(body) as ServerInfo | null) ?? {};
  } catch {
    return {};
  }
}
