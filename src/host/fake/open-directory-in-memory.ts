import { throwIfAborted } from "../../base/abort.ts";
import { assert } from "../../base/assert.ts";
import { fileError } from "../file-error.ts";
import type { Files, OpenedDirectory } from "../port.ts";
import type { MemoryEntry } from "./memory-entry.ts";
import type { MemoryTree } from "./memory-tree.ts";
import { compressFile } from "./open-files-in-memory.ts";

interface DirectoryMeans {
  readonly tree: MemoryTree;
  /** Has an access wait for the hooks, before and after its effect. */
  readonly access: (operation: "compress", path: string, effect: () => void) => Promise<void>;
  readonly files: Pick<Files, "list" | "remove" | "rename">;
}

/** Does what the port's `openDirectoryBeneath` says, by the path that the directory has at the time of a call. */
export function openDirectory(directory: MemoryEntry, { tree, access, files }: DirectoryMeans): OpenedDirectory {
  let isOpen = true;
  const at = (name: string) => {
    assert(isOpen, "a directory is used before it is closed");
    const names = tree.namesIn(tree.layers.root, directory);
    if (names === undefined) throw fileError("ENOENT", "open", name);
    return ["", ...names, name].join("/");
  };
  return {
    list: async () => await files.list(at("")),
    remove: async (name) => await files.remove(at(name)),
    rename: async (from, to) => await files.rename(at(from), at(to)),
    async compress(from, { name, unfinished }, { maxBytes, signal }) {
      throwIfAborted(signal);
      const path = at(from);
      const to = { path: at(name), unfinished: at(unfinished), maxBytes };
      await access("compress", path, () => compressFile(tree, path, to));
    },
    async close() {
      assert(isOpen, "a directory is closed once");
      isOpen = false;
    },
  };
}
