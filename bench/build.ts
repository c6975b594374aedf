import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { RUN_TIME_ENVIRONMENT, RUN_TIME_FLAGS } from "../src/cluster/processes/run-time.ts";

/** A built nodelet, and how its processes are started. */
export interface Build {
  /** As reports call it; the name of its node in a cluster too. */
  name: string;
  /** Its JavaScript file. */
  program: string;
  /** The flags and the environment of Node.js that `nodelet up` gives its processes. */
  runTime: RunTime;
}

interface RunTime {
  flags: readonly string[];
  environment: Readonly<Record<string, string>>;
}

/** Started as this tree's `nodelet up` would start it. */
export function buildOf(program: string): Build {
  return { name: "nodelet", program, runTime: { flags: RUN_TIME_FLAGS, environment: RUN_TIME_ENVIRONMENT } };
}

/** The build in the `dist/` of another tree, started as that tree's `nodelet up` would start it. */
export async function buildIn(tree: string, name: string): Promise<Build> {
  const program = join(tree, "dist/nodelet.js");
  const source = join(tree, "src/cluster/processes/run-time.ts");
  if (!existsSync(source)) return { ...buildOf(program), name };
  const own: { RUN_TIME_FLAGS: readonly string[]; RUN_TIME_ENVIRONMENT: Readonly<Record<string, string>> } =
    await import(pathToFileURL(source).href);
  return { name, program, runTime: { flags: own.RUN_TIME_FLAGS, environment: own.RUN_TIME_ENVIRONMENT } };
}

/** The command line of one of its commands, without an environment. */
export function commandOf({ program, runTime }: Build, args: readonly string[]): string[] {
  return [process.execPath, ...runTime.flags, program, ...args];
}
