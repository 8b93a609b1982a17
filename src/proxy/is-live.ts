/** What is asked of Envoy's `/server_info`. */
interface ServerInfo {
  readonly state?: string;
  readonly command_line_options?: { readonly base_id?: string; readonly restart_epoch?: number };
}

/** Whether the answer of `/server_info` is that of a LIVE Envoy of this base id and epoch. While a child comes up it is still its parent that answers. */
export function isLive(body: string, baseId: number, restartEpoch: number | undefined): boolean {
  const { state, command_line_options: options } = parse(body);
  return state === 'LIVE' && options?.base_id === String(baseId) && options.restart_epoch === restartEpoch;
}

/** Somebody else may be where the admin endpoint is looked for, and answer what he likes. */
function parse(body: string): ServerInfo {
  try {
    return (JSON.parse(body) as ServerInfo | null) ?? {};
  } catch {
    return {};
  }
}
