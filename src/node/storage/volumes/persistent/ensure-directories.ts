import type { Files } from "../../../../host/port.ts";

/** As kubelet makes what holds mounts: nobody but its own user and group needs to look there. */
const MODE = 0o750;

/** Makes the directory, and those above it as far as they are missing beneath `root`. What exists is left as it is. */
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
