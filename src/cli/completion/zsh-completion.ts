import { type CommandWords, listCommands, type ValueWords } from "./command-words.ts";

const BY_VALUE: Record<ValueWords["kind"], (value: ValueWords) => string> = {
  words: (value) => `compadd -- ${value.kind === "words" ? value.words.join(" ") : ""}`,
  files: () => "_files",
  directories: () => "_files -/",
  unknown: () => "_message value",
};

/** Writes the completion of a program for zsh. */
export function writeZshCompletion(program: CommandWords): string {
  const commands = listCommands(program);
  return `#compdef nodelet kubectl-nodelet
# Completion of nodelet for zsh: source <(nodelet completion zsh)
_nodelet() {
  local at=${program.name} option="\${words[CURRENT-1]}" i
  local -a described
  if [[ $PREFIX == --*=* ]]; then
    option="\${PREFIX%%=*}"
    compset -P 1 '*='
  fi
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
      (${commands
        .slice(1)
        .map(({ path }) => quote(path))
        .join("|")}) at="$at \${words[i]}" ;;
    esac
  done
  case "$at $option" in
${commands.flatMap(writeValues).join("\n")}
  esac
  case "$at" in
${commands.map(writeCommand).join("\n")}
  esac
}
if [[ $funcstack[1] == _nodelet ]]; then _nodelet "$@"; else compdef _nodelet nodelet kubectl-nodelet; fi
`;
}

function writeValues({ path, options }: CommandWords): string[] {
  return options.flatMap(({ flags, value }) => {
    if (value === undefined) return [];
    const patterns = flags.map((flag) => quote(`${path} ${flag}`)).join("|");
    return [`    (${patterns}) ${BY_VALUE[value.kind](value)}; return ;;`];
  });
}

function writeCommand({ path, below, options, argument }: CommandWords): string {
  const flags = options.flatMap((option) => option.flags.map((flag) => describe(flag, option.about)));
  const rest =
    below.length > 0
      ? writeChoice(
          "command",
          below.map(({ name, about }) => describe(name, about)),
        )
      : argument === undefined
        ? ":"
        : BY_VALUE[argument.kind](argument);
  return [
    `    (${quote(path)})`,
    "      if [[ $PREFIX == -* ]]; then",
    `        ${writeChoice("option", flags)}`,
    "      else",
    `        ${rest}`,
    "      fi ;;",
  ].join("\n");
}

const writeChoice = (tag: string, choices: readonly string[]) =>
  `described=(${choices.join(" ")}); _describe ${tag} described`;

/** A word with what it means, in which a colon parts them. */
const describe = (word: string, about: string) => quote(`${word}:${about.replaceAll(":", "\\:")}`);

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
