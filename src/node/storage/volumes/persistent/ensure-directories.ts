import type { Files } from "../../../../host/port.ts";

/** The mode that kubelet gives to directories that hold mounts: only its own user and group need to look there. */
const MODE = 0o750;

/** Makes the directory and the missing ones above it, as far up as `root`. Existing directories are left as they are. */
export async function ensureDirectories(
  files: Pick<Files, "stat" | "makeDirectory">,
  root: string,
  path: string,
): Promise<void> {
  if ((await files.stat(path)) !== undefined) return;
  const parent = path.slice(0, path.lastIndexOf("/"));
  if (parent.startsWith(`${root}/`)) await ensureDirectories(files, root, parent);
  await files.makeDirectory(path, MODE);
}
