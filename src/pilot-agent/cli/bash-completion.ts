import { allCommands, type Completed, type CompletedCommand, waysTo } from './completed-words.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

/**
 * Returns a script with which bash completes the command lines of a program. It needs no package of
 * bash's own completions. Pure.
 */
export function bashCompletion(program: CompletedCommand, name: string): string {
  const commands = allCommands(program);
  const options = optionsOf(commands);
  const taking = unique(
    options
      .filter(({ placeholder, isBoolean }) => placeholder !== undefined && !isBoolean)
      .map(({ option }) => option),
  );
  return script(name, commands, {
    taking: taking.join(' | '),
    values: cases(optionValues(options)),
    positions: cases(commands.flatMap(positionsOf)),
  });
}

/** A pattern of `case` in bash, and the completions of a word at a place that it matches. */
type Row = readonly [pattern: string, value: Completed];

function optionsOf(commands: readonly CompletedCommand[]) {
  return commands.flatMap(({ words, options }) =>
    options.flatMap(({ names, ...rest }) => names.map((option) => ({ words, option, ...rest }))),
  );
}

/**
 * Returns a row for each option. The rows of an option with the same values in all commands are
 * equal.
 */
function optionValues(options: ReturnType<typeof optionsOf>): readonly Row[] {
  return options.map(({ words, option, value }): Row => {
    const isSame = options
      .filter((candidate) => candidate.option === option)
      .every((namesake) => JSON.stringify(namesake.value) === JSON.stringify(value));
    return [isSame ? `*' ${option}'` : `'${words} ${option}'`, value];
  });
}

function positionsOf(command: CompletedCommand): readonly Row[] {
  const names = command.below.map((subcommand) => subcommand.name);
  return [
    ...(names.length === 0
      ? []
      : [[`'${command.words} 0'`, { kind: 'words', words: names }] as const]),
    ...command.arguments.map(
      ({ value }, index) =>
        [`'${command.words} ${value.kind === 'command' ? "'*" : `${index}'`}`, value] as const,
    ),
  ];
}

/** Returns the lines of a `case`. Words that may be anything have no line. */
function cases(rows: readonly Row[]): string {
  return lines(
    grouped(rows.filter(([, value]) => value.kind !== 'anything')),
    ([patterns, value]) => `      ${patterns.join(' | ')}) ${action(value)} ;;`,
  );
}

function script(
  name: string,
  commands: readonly CompletedCommand[],
  {
    taking,
    values,
    positions,
  }: { readonly taking: string; readonly values: string; readonly positions: string },
): string {
  return `# Completion of ${name} in bash, made by: ${name} completion bash
_pilot_agent() {
  local current=\${COMP_WORDS[COMP_CWORD]} command='' option='' rest='' word i
  local -i count=0
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word == : ]]; then # a part of a word, for bash
      if ((++i == COMP_CWORD)); then return; fi
    elif [[ $word == = ]]; then
      option=\${COMP_WORDS[i - 1]}
    elif [[ -n $option ]]; then
      option=''
    elif [[ -n $rest || $word != -* ]]; then
      case "$command $word" in
${lines(commands.slice(1), (command) => `        '${waysTo(command).join("' | '")}') command='${command.words}' ;;`)}
        *) count+=1 ;;
      esac
    elif [[ $word == -- ]]; then
      rest=yes
    else
      case $word in
        ${taking}) option=$word ;;
      esac
    fi
  done
  if [[ $current == = ]]; then
    option=\${COMP_WORDS[COMP_CWORD - 1]} current=''
  fi
  if [[ -n $option ]]; then
    case "$command $option" in
${values}
    esac
  elif [[ -z $rest && $current == -* ]]; then
    case $command in
${lines(commands, ({ words, options: choices }) => `      '${words}') _pilot_agent_words '${choices.flatMap(({ names }) => names).join(' ')}' ;;`)}
    esac
  else
    case "$command $count" in
${positions}
    esac
  fi
}
${actions}complete -F _pilot_agent ${name}
`;
}

/** The functions of the script that offer words. */
const actions = `_pilot_agent_words() {
  mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}
_pilot_agent_command() {
  if ((count == 0)); then
    mapfile -t COMPREPLY < <(compgen -c -- "$current" | sort -u)
  else
    compopt -o default
  fi
}
`;

function action(value: Completed): string {
  if (value.kind === 'words') return `_pilot_agent_words '${value.words.join(' ')}'`;
  const offers = {
    files: 'compopt -o default',
    folders: 'compopt -o dirnames',
    command: '_pilot_agent_command',
    anything: ':',
  };
  return offers[value.kind];
}

function grouped(
  rows: readonly Row[],
): readonly (readonly [patterns: readonly string[], value: Completed])[] {
  const texts = unique(rows.map(([, value]) => JSON.stringify(value)));
  return texts.map((text) => {
    const same = rows.filter(([, value]) => JSON.stringify(value) === text);
    return [unique(same.map(([pattern]) => pattern)), parseJson(text) as Completed];
  });
}

function lines<T>(rows: readonly T[], line: (row: T) => string): string {
  return rows.map(line).join('\n');
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
