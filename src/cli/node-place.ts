import type { Command, Option } from "commander";
import { messageOf } from "../base/errors.ts";
import { absolutePath } from "./flag-values.ts";
import type { UpConfiguration } from "./up/read-up-configuration.ts";
import { DEFAULT_UP_FILE } from "./up/up-settings.ts";

/** Which configuration file of `nodelet up` counts: a path, none, or the default one where it is there. */
type ConfigFlag = string | false | undefined;

interface NodePlaceDeps {
  /** Reads the file that counts; undefined where there is none. Rejects where it is wrong. */
  read(sources: { config?: string | false }): Promise<UpConfiguration | undefined>;
  warn(text: string): void;
}

/**
 * Adds the flags by which a command finds the node of `nodelet up`: its state directory, or the configuration file that
 * names it, which `up` reads too. The returned function says which directory is meant.
 */
export function addNodePlace(command: Command, stateDirectory: Option): () => Promise<string> {
  command
    .addOption(stateDirectory)
    .option(
      "--config <file>",
      `the configuration file of nodelet up, for its stateDir (default: ${DEFAULT_UP_FILE} if it is there)`,
      absolutePath,
    )
    .option("--no-config", "read no such file");
  return async () => {
    const { stateDir, config } = command.opts<{ stateDir: string; config?: string | boolean }>();
    if (command.getOptionValueSource("stateDir") !== "default") return stateDir;
    const { readUpConfiguration } = await import("./up/read-up-configuration.ts");
    const deps = { read: readUpConfiguration, warn: (text: string) => console.error(text) };
    return await readStateDirectory(deps, config === true ? undefined : config, stateDir);
  };
}

/**
 * Returns the state directory that the configuration file names, or `preset`. A file that was named must be right; the default
 * one may have been broken since the node was started, which must still be found.
 */
export async function readStateDirectory(deps: NodePlaceDeps, config: ConfigFlag, preset: string): Promise<string> {
  try {
    const found = await deps.read(config === undefined ? {} : { config });
    const named = found?.values["stateDir"];
    return typeof named === "string" ? named : preset;
  } catch (error) {
    if (typeof config === "string") throw error;
    deps.warn(`nodelet: ${messageOf(error)}\nIts stateDir is not known, so that ${preset} is meant.`);
    return preset;
  }
}
