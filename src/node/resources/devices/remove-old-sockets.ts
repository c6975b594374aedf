import type { Files } from "../../../host/port.ts";

/**
 * Removes the sockets of plugins, as upstream (`CleanupPluginDirectory`): a plugin that lives sees that the node agent's
 * socket is new, and registers again. The node agent's own stays, because another agent may still serve it.
 */
export async function removeOldSockets(files: Pick<Files, "list" | "remove">, directory: string): Promise<void> {
  for (const { name, type } of await files.list(directory)) {
    if (type === "socket" && name !== "kubelet.sock") await files.remove(`${directory}/${name}`);
  }
}
