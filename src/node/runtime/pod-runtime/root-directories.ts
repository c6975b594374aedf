import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../host/port.ts";

/** The mode that kubelet gives them (setupDataDirs): only its own user and group need to look there. */
const MODE = 0o750;

/**
 * Makes the root directory and the directories in it that hold everything else, before anything makes them in passing with
 * another mode. Existing ones are left as they are. A failure is logged and does not end the node agent: without the
 * directories pods fail, each with its own event.
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
