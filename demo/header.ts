export interface HeaderOptions {
  readonly rotateEvery: string;
  readonly ports: { readonly tls: number; readonly admin: number; readonly status: number };
  readonly rootCert: string;
  /** The arguments of the agent. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The text before the log: what runs where, and what to try. */
export function header({ rotateEvery, ports, rootCert, args, env }: HeaderOptions): string {
  return `
pilot-agent demo: Envoy serves https://localhost:${ports.tls}/ with a certificate that changes every ${rotateEvery}.

  Try, in another terminal:
    curl --cacert ${quoted(rootCert)} https://localhost:${ports.tls}/
    openssl s_client -connect localhost:${ports.tls} < /dev/null 2> /dev/null | openssl x509 -noout -serial
${ports.status === 0 ? '' : `    curl -i http://localhost:${ports.status}/healthz/ready\n`}  Envoy's admin page is http://localhost:${ports.admin}/

  This command runs:
${Object.entries(env)
  .map(([name, value]) => `    ${name}=${quoted(value)} \\\n`)
  .join('')}    pilot-agent ${inLines(args)}

  Ctrl-C drains Envoy and ends the demo. A second Ctrl-C cuts the drain short.

`;
}

/** Each flag with its value on its own line. */
function inLines(args: readonly string[]): string {
  return args
    .map((arg) => (arg.startsWith('--') ? `\\\n      ${quoted(arg)}` : quoted(arg)))
    .join(' ');
}

function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
