import { isAbsolute, join } from "node:path";

const MACHINE_DIRECTORY = "/var/cache/nodelet";

/**
 * Where a single executable keeps its unpacked files: in `$NODELET_PROGRAM_DIRECTORY` where that is set, with root's rights
 * in the machine's cache, otherwise in the user's (`$XDG_CACHE_HOME`, or `~/.cache`). They can be made anew at any time.
 */
export function computeProgramDirectory(
  userId: number,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const { NODELET_PROGRAM_DIRECTORY: chosen, XDG_CACHE_HOME: cacheHome, HOME: home } = environment;
  if (chosen !== undefined && chosen !== "") return chosen;
  if (userId === 0) return MACHINE_DIRECTORY;
  // The specification says that a relative path is to be ignored.
  if (cacheHome !== undefined && isAbsolute(cacheHome)) return join(cacheHome, "nodelet");
  return home !== undefined && isAbsolute(home) ? join(home, ".cache", "nodelet") : MACHINE_DIRECTORY;
}
