import {
  allCommands,
  type Completed,
  type CompletedCommand,
  type CompletedOption,
} from './completed-words.ts';

/**
 * Returns a script with which zsh completes the command lines of a program, for a folder of
 * `$fpath`, or for `eval`. Pure.
 */
export function zshCompletion(program: CompletedCommand, name: string): string {
  return `#compdef ${name}
# Completion of ${name} in zsh, made by: ${name} completion zsh
${allCommands(program)
  .map((command) => (command.below.length === 0 ? leaf(command, name) : group(command, name)))
  .join('\n')}
_pilot_agent_command() {
  if [[ $words[1] == -- ]]; then
    shift words
    ((CURRENT--))
  fi
  _normal
}
if [[ \${funcstack[1]} == _${name} ]]; then
  _${name} "$@"
else
  compdef _${name} ${name}
fi
`;
}

function leaf(command: CompletedCommand, name: string): string {
  const positions = command.arguments.map(({ name: called, value }, index) =>
    value.kind === 'command'
      ? quoted(`(-)*:::${called}:${action(value)}`)
      : quoted(`${index + 1}:${called}:${action(value)}`),
  );
  return `${functionOf(command.words, name)}() {
  _arguments -S \\
${[...command.options.flatMap(specs), ...positions].map((spec) => `    ${spec}`).join(' \\\n')}
}`;
}

function group(command: CompletedCommand, name: string): string {
  const names = command.below.map((subcommand) => quoted(`${subcommand.name}:${subcommand.text}`));
  return `${functionOf(command.words, name)}() {
  local curcontext=$curcontext state line
  local -a below=( # commands is a name of zsh itself
${names.map((text) => `    ${text}`).join('\n')}
  )
  _arguments -C \\
${command.options
  .flatMap(specs)
  .map((spec) => `    ${spec}`)
  .join(' \\\n')} \\
    '(-): :->command' '(-)*:: :->arguments'
  case $state in
    command) _describe command below ;;
    arguments)
      case $words[1] in
${command.below.map((subcommand) => `        ${[subcommand.name, ...subcommand.aliases].join(' | ')}) ${functionOf(subcommand.words, name)} ;;`).join('\n')}
      esac
      ;;
  esac
}`;
}

/** Returns one specification for each name of an option; each name excludes the others. */
function specs({
  names,
  text,
  placeholder,
  value,
  isBoolean,
  isRepeated,
}: CompletedOption): readonly string[] {
  const excluded = isRepeated ? '*' : names.length > 1 ? `(${names.join(' ')})` : '';
  const explained = `[${text.replace(/[[\]\\]/g, '\\$&')}]`;
  const operand =
    placeholder === undefined ? '' : `:${placeholder.replaceAll(':', '\\:')}:${action(value)}`;
  return names.map((option) => {
    if (placeholder === undefined) return quoted(`${excluded}${option}${explained}`);
    const joint = isBoolean ? '=-' : option.startsWith('--') ? '=' : '';
    return quoted(`${excluded}${option}${joint}${explained}${isBoolean ? ':' : ''}${operand}`);
  });
}

function action(value: Completed): string {
  if (value.kind === 'words') return `(${value.words.join(' ')})`;
  return { files: '_files', folders: '_files -/', command: '_pilot_agent_command', anything: ' ' }[
    value.kind
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function functionOf(words: string, name: string): string {
  return ['', name, ...words.split(' ')]
    .filter((part, index) => index === 0 || part !== '')
    .join('_');
}
