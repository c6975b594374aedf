import { type Command, Option } from "commander";
import { absolutePath, wholeNumber } from "../flag-values.ts";
import type { UpValues } from "./up-configuration.ts";
import type { UpOptions, UpSources } from "./up-options.ts";
import { DEFAULT_UP_FILE, UP_SETTINGS, type UpSetting } from "./up-settings.ts";

/** `apply` puts what a file says in the place of defaults, and returns the effective options. */
type RunUp = (sources: UpSources, apply: (values: UpValues) => UpOptions) => Promise<void>;

/** Adds `nodelet up`, whose flags are the table of settings. */
export function addUp(program: Command, run: RunUp): void {
  const command = program
    .command("up")
    .description(
      "run a node on this machine: its own containerd, a Kubernetes API, and a node agent that watches a directory",
    )
    .option(
      "--config <file>",
      `read settings from this file; flags go before it (default: ${DEFAULT_UP_FILE} if it is there)`,
      absolutePath,
    )
    .addOption(new Option("--no-config", `read no file of settings, not even ${DEFAULT_UP_FILE}`))
    .option("--print-config", "print all settings as such a file, and end", false);
  for (const setting of UP_SETTINGS) for (const option of optionsOf(setting)) command.addOption(option);
  command.addOption(new Option("--supervisor", "this is the background process of --detach").hideHelp().default(false));
  command.action(async () => {
    const sources = command.opts<UpSources>();
    await run(sources, (values) => {
      for (const [field, value] of Object.entries(values)) {
        if (command.getOptionValueSource(field) !== "cli") command.setOptionValueWithSource(field, value, "config");
      }
      return command.opts<UpOptions>();
    });
  });
}

/** The option of a setting. A switch has its opposite too, unseen, with which a flag goes before a file. */
function optionsOf(setting: UpSetting): Option[] {
  const { flags, about, preset } = setting;
  const option = new Option(flags, about);
  switch (setting.kind) {
    case "switch": {
      const positive = flags.replace("--no-", "--").replace(/^-\w, /, "");
      const negative = positive.replace("--", "--no-");
      const opposite = new Option(option.negate ? positive : negative).hideHelp();
      // Commander takes the default of the first of the two.
      return option.negate ? [opposite.default(preset), option] : [option.default(preset), opposite];
    }
    case "number":
      return [option.default(preset).argParser(wholeNumber(setting.least, setting.most))];
    case "choice":
      return [option.default(preset).choices(setting.choices)];
    case "list":
      return [option.default(preset, "none").argParser(collect(preset))];
    case "text":
      return [option.default(preset, setting.presetAbout).argParser(setting.read ?? String)];
    case "path":
      return [option.default(preset, setting.presetAbout).argParser(absolutePath)];
  }
}

function collect(preset: unknown): (value: string, previous: readonly string[]) => string[] {
  // The first flag of the command line takes the place of the default, the others join it.
  return (value, previous) => (previous === preset ? [value] : [...previous, value]);
}
