import type { Command } from "commander";
import { writeBashCompletion } from "./bash-completion.ts";
import { type CommandWords, readCommandWords } from "./command-words.ts";
import { writeFishCompletion } from "./fish-completion.ts";
import type { Shell } from "./shells.ts";
import { writeZshCompletion } from "./zsh-completion.ts";

const WRITERS: Record<Shell, (program: CommandWords) => string> = {
  bash: writeBashCompletion,
  zsh: writeZshCompletion,
  fish: writeFishCompletion,
};

/** Writes the completion of a program for a shell, from what its `--help` is made of. */
export function writeCompletion(shell: Shell, program: Command): string {
  return WRITERS[shell](readCommandWords(program));
}
