import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { ConnectionFiles } from "../connection.ts";

/** The files of this machine. Nothing but a regular file is read: a FIFO would make the caller wait for ever. */
export const localFiles: ConnectionFiles = {
  async read(path, maxBytes) {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await handle.stat();
      if (!status.isFile()) throw fileError(status.isDirectory() ? "EISDIR" : "EINVAL", path);
      const buffer = Buffer.alloc(Math.min(status.size, maxBytes) + 1);
      let length = 0;
      while (length < buffer.length) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      if (length > maxBytes) throw fileError("EFBIG", path);
      return buffer.subarray(0, length);
    } finally {
      await handle.close();
    }
  },
};

function fileError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: read ${path}`), { code });
}
