import { type CommandWords, listCommands, type OptionWords, type ValueWords } from "./command-words.ts";

const BY_VALUE: Record<ValueWords["kind"], (value: ValueWords) => string> = {
  words: (value) => `-x -a ${quote(value.kind === "words" ? value.words.join(" ") : "")}`,
  files: () => "-r -F",
  directories: () => "-x -a '(__fish_complete_directories)'",
  unknown: () => "-x",
};

/** Writes the completion of a program for fish. */
export function writeFishCompletion(program: CommandWords): string {
  const commands = listCommands(program);
  return `# Completion of nodelet for fish: nodelet completion fish | source
function __nodelet_at
    set -l at ${program.name}
    set -l given (commandline -opc)
    set -e given[1]
    for word in $given
        switch "$at $word"
            case ${commands
              .slice(1)
              .map(({ path }) => quote(path))
              .join(" ")}
                set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c nodelet -f
${commands.flatMap(writeCommand).join("\n")}
complete -c kubectl-nodelet -w nodelet
`;
}

function writeCommand({ path, below, options, argument }: CommandWords): string[] {
  const start = `complete -c nodelet -n ${quote(`__nodelet_at ${quote(path)}`)}`;
  const lines = below.map(({ name, about }) => `${start} -a ${name} -d ${quote(about)}`);
  lines.push(...options.map((option) => `${start} ${writeOption(option)}`));
  if (argument?.kind === "files") lines.push(`${start} -F`);
  else if (argument !== undefined && argument.kind !== "unknown")
    lines.push(`${start} ${BY_VALUE[argument.kind](argument)}`);
  return lines;
}

function writeOption({ flags, about, value }: OptionWords): string {
  const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return [...names, ...(value === undefined ? [] : [BY_VALUE[value.kind](value)]), `-d ${quote(about)}`].join(" ");
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
