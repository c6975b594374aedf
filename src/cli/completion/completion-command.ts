import { Argument, type Command } from "commander";
import { SHELLS, type Shell } from "./shells.ts";

/** Adds `nodelet completion`. */
export function addCompletion(program: Command): void {
  program
    .command("completion")
    .description("print what makes a shell complete commands, options and their values")
    .addArgument(new Argument("<shell>", "what reads it").choices(SHELLS))
    .action(async (shell: Shell) => {
      const { writeCompletion } = await import("./write-completion.ts");
      process.stdout.write(writeCompletion(shell, program));
    });
}
