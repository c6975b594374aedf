import type { Argument, Command, Option } from "commander";

/** What a value is, as far as a shell can complete it. */
export type ValueWords =
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "files" | "directories" | "unknown" };

/** An option as `--help` shows it. */
export interface OptionWords {
  /** The short form first where there is one, such as `-o` and `--output`. */
  readonly flags: readonly string[];
  readonly about: string;
  /** Undefined for a switch. */
  readonly value: ValueWords | undefined;
}

/** One command with the commands below it in `below`. */
export interface CommandWords {
  /** All words from the program's name on, such as `nodelet images ls`. */
  readonly path: string;
  readonly name: string;
  readonly about: string;
  readonly below: readonly CommandWords[];
  readonly options: readonly OptionWords[];
  /** What may follow the options; undefined for nothing. */
  readonly argument: ValueWords | undefined;
}

const UNKNOWN: ValueWords = { kind: "unknown" };

/** Reads what `--help` shows of a program, and no more: hidden commands and options are left out. */
export function readCommandWords(program: Command): CommandWords {
  return readWords(program, { path: program.name(), siblings: [] });
}

function readWords(command: Command, { path, siblings }: { path: string; siblings: readonly string[] }): CommandWords {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const names = commands.map((each) => each.name());
  const [first] = command.registeredArguments;
  return {
    path,
    name: command.name(),
    about: command.description(),
    below: commands.map((each) => readWords(each, { path: `${path} ${each.name()}`, siblings: names })),
    options: help.visibleOptions(command).map(readOption),
    // The argument of commander's own help is the name of a command beside it.
    argument: command.name() === "help" ? { kind: "words", words: siblings } : first && readArgument(first),
  };
}

function readOption(option: Option): OptionWords {
  const { short, long, description: about, required, optional, argChoices } = option;
  const placeholder = /[<[]([^\]>]+)[\]>]/.exec(option.flags)?.[1] ?? "";
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    about,
    value: required || optional ? readValue(placeholder, argChoices) : undefined,
  };
}

function readArgument(argument: Argument): ValueWords {
  return readValue(argument.name(), argument.argChoices);
}

function readValue(placeholder: string, choices: readonly string[] | undefined): ValueWords {
  if (choices !== undefined) return { kind: "words", words: choices };
  if (placeholder === "dir") return { kind: "directories" };
  return placeholder === "file" || placeholder === "path" ? { kind: "files" } : UNKNOWN;
}

/** A command and all below it, the command first. */
export function listCommands(command: CommandWords): CommandWords[] {
  return [command, ...command.below.flatMap(listCommands)];
}
