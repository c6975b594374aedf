import { type Clock, MINUTE } from "../../../base/clock.ts";
import { codeOf, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../host/port.ts";
import { readDockerConfigJson, readDockercfg } from "./docker-config.ts";
import type { RegistryEntry } from "./pull-credentials.ts";

/** The node's own credentials, which every pod on it may use: those of a Docker configuration file. */
interface NodeRegistryConfig {
  /** Read anew after five minutes. Empty where there is no file that can be read. */
  entries(): Promise<readonly RegistryEntry[]>;
}

interface NodeRegistryConfigDeps {
  readonly files: Pick<Files, "read">;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long the entries are kept, as in pkg/credentialprovider/provider.go. */
const LIFETIME_MS = 5 * MINUTE;
const MAX_BYTES = 1024 * 1024;

/**
 * The first of the files that can be read counts: `config.json` in each of the directories, then `.dockercfg` in each, as
 * pkg/credentialprovider/config.go looks for them.
 */
export function createNodeRegistryConfig(
  { files, clock, log }: NodeRegistryConfigDeps,
  { configPaths, legacyPaths }: { readonly configPaths: readonly string[]; readonly legacyPaths: readonly string[] },
): NodeRegistryConfig {
  let known: { readonly entries: readonly RegistryEntry[]; readonly at: number } | undefined;

  const readFirst = async (): Promise<readonly RegistryEntry[]> => {
    const places = [
      ...configPaths.map((path) => ({ path, parse: readDockerConfigJson })),
      ...legacyPaths.map((path) => ({ path, parse: readDockercfg })),
    ];
    for (const { path, parse } of places) {
      try {
        const config = parse((await files.read(path, MAX_BYTES)).toString("utf8"));
        if (config.ok) return config.entries;
        log.warn("The node's registry configuration is not used", { path, error: `it ${config.error}` });
      } catch (error) {
        if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") continue;
        log.warn("The node's registry configuration cannot be read", { path, error: messageOf(error) });
      }
    }
    return [];
  };

  return {
    async entries() {
      if (known === undefined || clock.monotonic() - known.at >= LIFETIME_MS) {
        known = { entries: await readFirst(), at: clock.monotonic() };
      }
      return known.entries;
    },
  };
}
