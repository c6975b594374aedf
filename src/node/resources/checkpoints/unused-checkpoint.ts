import type { Files } from "../../../host/port.ts";

interface UnusedCheckpoint {
  readonly directory: string;
  readonly name: string;
  /** What the file is to say. */
  readonly text: string;
  /** Rejects where the file is another policy's; it may be absent. */
  check(path: string): Promise<void>;
}

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o750;

/**
 * Keeps the checkpoint of a resource that is not given to anybody. Each policy leaves its name there, so that the next
 * start, of this node agent or of a Go kubelet, does not take one policy's account for another's (upstream:
 * `restoreState` of cm/cpumanager/state and cm/memorymanager/state).
 */
export async function keepUnusedCheckpoint(
  files: Pick<Files, "makeDirectory" | "stat" | "writeAtomically">,
  { directory, name, text, check }: UnusedCheckpoint,
): Promise<void> {
  const path = `${directory}/${name}`;
  await check(path);
  try {
    if ((await files.stat(path)) !== undefined) return;
    if ((await files.stat(directory)) === undefined) await files.makeDirectory(directory, DIRECTORY_MODE);
    await files.writeAtomically(path, text, FILE_MODE);
  } catch {
    // A disk that takes no file must not keep the node agent from starting: its own account is empty. The next start
    // tries again.
  }
}
