import {
  allCommands,
  type Completed,
  type CompletedCommand,
  type CompletedOption,
  waysTo,
} from './completed-words.ts';

/** Returns a script with which fish completes the command lines of a program. Pure. */
export function fishCompletion(program: CompletedCommand, name: string): string {
  const commands = allCommands(program);
  const options = commands.flatMap(({ options }) => options);
  const taking = [
    ...new Set(
      options
        .filter(({ placeholder, isBoolean }) => placeholder !== undefined && !isBoolean)
        .flatMap(({ names }) => names),
    ),
  ];
  const ways = commands.slice(1).map((command) => {
    const patterns = waysTo(command).map(quoted).join(' ');
    return `                    case ${patterns}\n                        set command ${quoted(command.words)}`;
  });
  return `# Completion of ${name} in fish, made by: ${name} completion fish
function __pilot_agent_at -d 'Whether the command before the cursor is this one'
    set -l command
    set -l value no
    for token in (commandline -opc)[2..-1]
        if test $value = yes
            set value no
            continue
        end
        switch $token
            case ${taking.join(' ')}
                set value yes
            case '-*'
            case '*'
                switch "$command $token"
${ways.join('\n')}
                end
        end
    end
    test "$command" = "$argv[1]"
end
complete -c ${name} -f
${commands.flatMap((command) => lines(command, name)).join('\n')}
`;
}

function lines(
  { words, below, options, arguments: positions }: CompletedCommand,
  name: string,
): readonly string[] {
  const start = `complete -c ${name} -n ${quoted(`__pilot_agent_at '${words}'`)}`;
  return [
    ...below.map((subcommand) => `${start} -a ${subcommand.name} -d ${quoted(subcommand.text)}`),
    ...positions
      .filter(({ value }) => value.kind !== 'anything')
      .map(({ value }) => `${start} ${action(value)}`),
    ...options.map(
      (option) => `${start} ${namesOf(option)}${valueOf(option)} -d ${quoted(option.text)}`,
    ),
  ];
}

function namesOf({ names }: CompletedOption): string {
  return names
    .map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`))
    .join(' ');
}

function valueOf({ placeholder, value, isBoolean }: CompletedOption): string {
  if (placeholder === undefined) return '';
  return ` ${isBoolean ? '' : value.kind === 'files' ? '-r ' : '-x '}${action(value)}`.trimEnd();
}

function action(value: Completed): string {
  if (value.kind === 'words') return `-a ${quoted(value.words.join(' '))}`;
  return {
    files: '-F',
    folders: "-a '(__fish_complete_directories)'",
    command: "-a '(__fish_complete_subcommand --fcs-skip=2)'",
    anything: '',
  }[value.kind];
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
