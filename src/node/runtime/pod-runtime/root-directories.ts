import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../host/port.ts";

/** As kubelet makes them (setupDataDirs): nobody but its own user and group needs to look there. */
const MODE = 0o750;

/**
 * Makes the root directory, and those in it that hold everything else, so that none comes to be on the way to another,
 * with another mode. What exists is left as it is. Without them pods fail, each with its own event: no reason to end.
 */
export async function makeRootDirectories(
  { files, log }: { files: Pick<Files, "stat" | "makeDirectory">; log: Log },
  rootDirectory: string,
): Promise<void> {
  try {
    for (const directory of [rootDirectory, `${rootDirectory}/pods`, `${rootDirectory}/plugins`]) {
      if ((await files.stat(directory)) === undefined) await files.makeDirectory(directory, MODE);
    }
  } catch (error) {
    log.error("Cannot make the directories of the node agent", { rootDirectory, error: messageOf(error) });
  }
}
