import type { Command, Help } from "commander";
import { UP_API_VERSION, UP_KIND } from "../up/up-configuration.ts";
import { DEFAULT_UP_FILE, UP_SETTINGS } from "../up/up-settings.ts";
import { EXIT_CODES, FAILED, SECOND_SIGNAL } from "./exit-codes.ts";

/** Writes the manual `nodelet.1` from what `--help` is made of, in the macros of man(7). */
export function writeManual(program: Command, version: string): string {
  const help = program.createHelp();
  const lines = [
    `.TH ${program.name().toUpperCase()} 1 "" "${program.name()} ${version}" "User Commands"`,
    ".SH NAME",
    `${program.name()} \\- ${escapeText(program.description())}`,
    ".SH SYNOPSIS",
    `.B ${program.name()}`,
    escapeText(program.usage()),
    ".SH OPTIONS",
    ...writeOptions(program, help),
    ".SH COMMANDS",
    ...writeCommands(program, help),
    ".SH FILES",
    ...writeTerm(
      DEFAULT_UP_FILE,
      `Settings of nodelet up, in YAML, where no other file is named by --config. It begins with apiVersion: ${UP_API_VERSION} and kind: ${UP_KIND}. Its fields are, each with its flag:`,
    ),
    ".RS",
    ...UP_SETTINGS.flatMap(({ field, flags }) => writeTerm(field, flags)),
    ".RE",
    ".SH EXIT STATUS",
    escapeText(
      `Every command returns 0 or 1. 1 means for each of them: ${FAILED}. ${SECOND_SIGNAL.replaceAll("`", "")}`,
    ),
    ...EXIT_CODES.flatMap(({ commands, done, failed }) =>
      writeTerm(commands.join(", "), `0: ${done}. 1 also: ${failed}.`),
    ),
  ];
  return `${lines.join("\n")}\n`;
}

/** The commands below a command, but commander's own `help`: the manual takes its place. */
function writeCommands(parent: Command, help: Help): string[] {
  const commands = help.visibleCommands(parent).filter((command) => command.name() !== "help");
  return commands.flatMap((command) => writeCommand(command, help));
}

/** A command with those below it, each under its whole name. */
function writeCommand(command: Command, help: Help): string[] {
  return [
    `.SS "${escapeText(help.commandUsage(command))}"`,
    escapeText(command.description()),
    ...writeOptions(command, help),
    ...writeCommands(command, help),
  ];
}

function writeOptions(command: Command, help: Help): string[] {
  return help.visibleOptions(command).flatMap((option) => writeTerm(option.flags, help.optionDescription(option)));
}

const writeTerm = (term: string, text: string) => [".TP", `.B ${escapeText(term)}`, escapeText(text)];

/** Text as it stands: no backslash, hyphen, quote or first character means anything to roff. */
function escapeText(text: string): string {
  const escaped = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll('"', "\\(dq");
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
