import { type ParseArgsConfig, parseArgs } from "node:util";
import { messageOf } from "../src/base/errors.ts";

type OptionsConfig = NonNullable<ParseArgsConfig["options"]>;

/**
 * Reads the options of a command for developers. Ends the process: with `usage` where that is asked for, and with exit code
 * 2 and a message where an option is unknown or has no value.
 */
export function readCommandOptions<Options extends OptionsConfig>(usage: string, options: Options) {
  if (process.argv.some((word) => word === "--help" || word === "-h")) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuseOption(`${messageOf(error)}\n\n${usage}`);
  }
}

/** Reads the whole number, of at least `least`, that the option must have. Ends the process where it has another value. */
export function readWholeNumber(name: string, text: string, least = 0): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(value) && value >= least) return value;
  return refuseOption(`--${name} takes a whole number${least > 0 ? ` of at least ${least}` : ""}, not "${text}"`);
}

/** Says what cannot be, and ends the process with exit code 2. */
export function refuseOption(message: string): never {
  console.error(message);
  process.exit(2);
}
