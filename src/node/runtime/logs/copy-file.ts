import { throwIfAborted } from "../../../base/abort.ts";
import type { OpenedFile } from "../../../host/opened-file.ts";
import type { WriteOutput } from "./log-reader.ts";

const PORTION_BYTES = 64 * 1024;

/**
 * Writes `from … end` of a file (default: all that it has now) and closes it. Rejects with AbortedError when the signal
 * fires, and where the file is shorter than it was said to be.
 */
export async function copyFile(
  file: OpenedFile,
  to: { readonly write: WriteOutput; readonly signal: AbortSignal },
  range?: { readonly from: number; readonly end: number },
): Promise<void> {
  try {
    const { from, end } = range ?? { from: 0, end: (await file.status()).sizeBytes };
    for (let position = from; position < end; ) {
      throwIfAborted(to.signal);
      const bytes = await file.read(position, Math.min(PORTION_BYTES, end - position));
      if (bytes.length === 0) throw new Error("the file became shorter while it was read");
      await to.write(bytes);
      position += bytes.length;
    }
  } finally {
    await file.close();
  }
}
