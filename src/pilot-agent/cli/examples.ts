import { ownMember } from '../../shared/text/own-member.ts';

/** The examples by command, such as `pilot-agent config print`. */
type Pages = Readonly<Record<string, string>>;

/**
 * Returns the examples at the end of the help page of a command, such as `pilot-agent config
 * print`; '' if it has none. They are inside functions, so that a start does not create them. Pure.
 */
export function examples(command: string): string {
  const pages: Pages = {
    ...proxyPages(),
    ...configPages(),
    ...envoyPages(),
    ...clientPages(),
    ...programPages(),
  };
  return ownMember(pages, command) ?? '';
}

function proxyPages(): Pages {
  return {
    'pilot-agent': `
Examples:
  # Run a sidecar with a configuration of your own.
  $ pilot-agent proxy sidecar --customConfigFile envoy.yaml --configPath run
  # Wait until it is ready.
  $ pilot-agent wait --url http://localhost:15020/healthz/ready
  # Read about a command.
  $ pilot-agent help config print`,

    'pilot-agent proxy': `
The logging flags (--log_…) are on the page of pilot-agent --help.

Examples:
  # Run a sidecar with a configuration of your own.
  $ pilot-agent proxy sidecar --customConfigFile envoy.yaml --configPath run
  # Run a gateway of a mesh.
  $ pilot-agent proxy router --discoveryAddress istiod.istio-system.svc:15012
  # Leave Envoy running when the agent is replaced.
  $ pilot-agent proxy sidecar --keepEnvoy --configPath /var/lib/proxy`,

    'pilot-agent bootstrap': `
Examples:
  # Print the configuration of a gateway as YAML.
  $ pilot-agent bootstrap router -o yaml
  # Let Envoy check a configuration of your own.
  $ pilot-agent bootstrap --customConfigFile envoy.yaml --validate`,

    'pilot-agent check': `
The logging flags (--log_…) are on the page of pilot-agent --help.

Examples:
  # Find mistakes before the agent starts.
  $ pilot-agent check sidecar --customConfigFile envoy.yaml --configPath run
  # Check a running agent, with output for a program.
  $ pilot-agent check -o json`,
  };
}

function configPages(): Pages {
  return {
    'pilot-agent config': `
Examples:
  # Print the configuration of a sidecar.
  $ pilot-agent config print sidecar
  # Check a configuration file.
  $ pilot-agent config check agent.yaml`,

    'pilot-agent config print': `
The logging flags (--log_…) are on the page of pilot-agent --help.

Examples:
  # See which value wins, and its source.
  $ pilot-agent config print sidecar --drainDuration 10s
  # The same for a program.
  $ pilot-agent config print sidecar --drainDuration 10s -o json`,

    'pilot-agent config check': `
Examples:
  # Check the file of --config before an agent reads it.
  $ pilot-agent config check agent.yaml`,

    'pilot-agent config help': `
Examples:
  # Read about a command below config.
  $ pilot-agent config help print`,
  };
}

function envoyPages(): Pages {
  return {
    'pilot-agent envoy': `
Examples:
  # Download the Envoy that this agent is tested with.
  $ pilot-agent envoy install
  # See which Envoy would run.
  $ pilot-agent envoy path`,

    'pilot-agent envoy install': `
Examples:
  # Download the Envoy that this agent is tested with.
  $ pilot-agent envoy install
  # Download another version.
  $ pilot-agent envoy install 1.36.2`,

    'pilot-agent envoy path': `
Examples:
  # See which Envoy would run, and its version.
  $ pilot-agent envoy path
  $ "$(pilot-agent envoy path)" --version`,

    'pilot-agent envoy help': `
Examples:
  # Read about a command below envoy.
  $ pilot-agent envoy help install`,
  };
}

/** The commands that talk to a running agent. */
function clientPages(): Pages {
  return {
    'pilot-agent request': `
Examples:
  # See the clusters that Envoy has.
  $ pilot-agent request GET /clusters
  # Change Envoy's log level.
  $ pilot-agent request POST '/logging?level=debug'`,

    'pilot-agent wait': `
Examples:
  # Wait up to 60 s for the proxy.
  $ pilot-agent wait
  # Ask the status port of an agent.
  $ pilot-agent wait --url http://localhost:15020/healthz/ready`,

    'pilot-agent exec': `
Examples:
  # Run a job, then end the agent.
  $ pilot-agent exec -- ./job.sh
  # Give the agent 2 minutes to become ready.
  $ pilot-agent exec --timeoutSeconds 120 -- ./job.sh --fast`,

    'pilot-agent secrets': `
Examples:
  # See when the certificates expire.
  $ pilot-agent secrets
  # The same for a program.
  $ pilot-agent secrets -o json`,

    'pilot-agent status': `
Examples:
  # See whether the agent is ready, and if not, why.
  $ pilot-agent status
  # See everything, such as the last lines of an Envoy that crashed.
  $ pilot-agent status -o wide
  # The same for a program.
  $ pilot-agent status -o json`,

    'pilot-agent top': `
Examples:
  # Watch the agent that runs here.
  $ pilot-agent top
  # Watch one of several.
  $ pilot-agent top --configPath /var/lib/proxy`,
  };
}

function programPages(): Pages {
  return {
    'pilot-agent version': `
Examples:
  # Print only the number.
  $ pilot-agent version --short
  # Print the versions for a program.
  $ pilot-agent version -o json`,

    'pilot-agent completion': `
Examples:
  # Complete in this bash; add the line to ~/.bashrc to keep it.
  $ eval "$(pilot-agent completion bash)"
  # Print the script for a file in ~/.config/fish/completions.
  $ pilot-agent completion fish`,

    'pilot-agent help': `
Examples:
  # Read about a command.
  $ pilot-agent help proxy
  $ pilot-agent help config print`,
  };
}
