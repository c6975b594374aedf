import { constants } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { AbortedError } from "../../../base/abort.ts";
import { codeOf } from "../../../base/errors.ts";
import { fileError } from "../../file-error.ts";
import type { CompressionLimits } from "../../port.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** See `OpenedDirectory.compress`. gzip runs beside the event loop, in the threads that read files. */
export async function compressFile(
  from: string,
  to: { readonly path: string; readonly unfinished: string },
  { maxBytes, signal }: CompressionLimits,
): Promise<void> {
  if (signal.aborted) throw new AbortedError();
  const source = await open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  try {
    const status = await source.stat();
    if (!status.isFile()) throw fileError("EINVAL", "open", from);
    if (status.size > maxBytes) throw fileError("EFBIG", "open", from);
    await unlinkIfThere(to.unfinished);
    const target = await open(to.unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      await copyCompressed({ source, target, mode: status.mode & 0o777, sizeBytes: status.size }, signal);
      await rename(to.unfinished, to.path);
    } catch (error) {
      await unlinkIfThere(to.unfinished);
      throw signal.aborted ? new AbortedError() : error;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

interface Copy {
  readonly source: FileHandle;
  readonly target: FileHandle;
  readonly mode: number;
  /** What is written behind it meanwhile is left out. */
  readonly sizeBytes: number;
}

async function copyCompressed({ source, target, mode, sizeBytes }: Copy, signal: AbortSignal): Promise<void> {
  const read = sizeBytes === 0 ? [] : source.createReadStream({ autoClose: false, end: sizeBytes - 1 });
  const gzip = createGzip();
  await pipeline(
    read,
    gzip,
    async (compressed) => {
      for await (const chunk of compressed) await writeAll(target, chunk);
    },
    { signal },
  );
  await target.chmod(mode);
  await target.sync();
}

/** write(2) may take less than it was given. */
async function writeAll(target: FileHandle, chunk: Buffer): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await target.write(chunk, written)).bytesWritten;
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}
