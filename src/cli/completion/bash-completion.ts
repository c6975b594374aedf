import { type CommandWords, listCommands, type ValueWords } from "./command-words.ts";

/** Where completing a value begins: the word up to the cursor is `$word`. */
const BY_VALUE: Record<ValueWords["kind"], (value: ValueWords) => string> = {
  words: (value) => `nodelet_words ${value.kind === "words" ? value.words.join(" ") : ""}`,
  files: () => "nodelet_paths -f",
  directories: () => "nodelet_paths -d",
  unknown: () => ":",
};

/** Writes the completion of a program for bash. */
export function writeBashCompletion(program: CommandWords): string {
  const commands = listCommands(program);
  return `# Completion of nodelet for bash: source <(nodelet completion bash)
_nodelet() {
  local word="\${COMP_WORDS[COMP_CWORD]}" option="\${COMP_WORDS[COMP_CWORD - 1]}" at=${program.name} i
  nodelet_words() { mapfile -t COMPREPLY < <(compgen -W "$*" -- "$word"); }
  nodelet_paths() { mapfile -t COMPREPLY < <(compgen "$1" -- "$word"); compopt -o filenames 2>/dev/null; }
  COMPREPLY=()
  # bash takes --option=value apart at the sign.
  if [[ $word == "=" ]]; then word=""; elif [[ $option == "=" ]]; then option="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
      ${commands
        .slice(1)
        .map(({ path }) => quote(path))
        .join(" | ")}) at="$at \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $option" in
${commands.flatMap(writeValues).join("\n")}
  esac
  case "$at" in
${commands.map(writeCommand).join("\n")}
  esac
}
complete -F _nodelet nodelet kubectl-nodelet
`;
}

function writeValues({ path, options }: CommandWords): string[] {
  return options.flatMap(({ flags, value }) => {
    if (value === undefined) return [];
    const patterns = flags.map((flag) => quote(`${path} ${flag}`)).join(" | ");
    return [`    ${patterns}) ${BY_VALUE[value.kind](value)}; return ;;`];
  });
}

function writeCommand({ path, below, options, argument }: CommandWords): string {
  const flags = options.flatMap((option) => option.flags).join(" ");
  const rest =
    below.length > 0
      ? `nodelet_words ${below.map(({ name }) => name).join(" ")}`
      : argument === undefined
        ? ":"
        : BY_VALUE[argument.kind](argument);
  return `    ${quote(path)}) if [[ $word == -* ]]; then nodelet_words ${flags}; else ${rest}; fi ;;`;
}

const quote = (text: string) => `"${text}"`;
