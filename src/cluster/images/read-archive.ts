import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { type Duplex, PassThrough, Transform } from "node:stream";
import * as zlib from "node:zlib";

/** How an archive is written: a plain tar file, or what a program made smaller. */
export type ArchiveForm = "tar" | "gzip" | "zstd";

const HEAD_BYTES = 512;
/** `ustar` of a tar file, and the first bytes of what gzip and zstd wrote. */
const TAR = { offset: 257, bytes: Buffer.from("ustar") };
const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Says how the file is written, by its first bytes; a text says why it is no archive. Rejects where it cannot be read. */
export async function readArchiveForm(path: string): Promise<ArchiveForm | { readonly problem: string }> {
  const file = await open(path, "r");
  try {
    const status = await file.stat();
    if (status.isDirectory()) return { problem: "it is a directory: name the archive itself" };
    if (!status.isFile()) return { problem: "it is no regular file" };
    if (status.size === 0) return { problem: "it is empty" };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const head = buffer.subarray(0, bytesRead);
    if (head.subarray(0, GZIP.length).equals(GZIP)) return "gzip";
    if (head.subarray(0, ZSTD.length).equals(ZSTD)) return "zstd";
    const isTar = head.subarray(TAR.offset, TAR.offset + TAR.bytes.length).equals(TAR.bytes);
    return isTar ? "tar" : { problem: "it is neither a tar file nor a compressed one" };
  } finally {
    await file.close();
  }
}

/** Whether this Node.js can read zstd; where it cannot, the runtime is handed the file as it is. */
export const readsZstd = "createZstdDecompress" in zlib;

/**
 * The streams through which an archive becomes a plain tar file, to be joined by a pipeline: old runtimes read no other.
 * `onBytes` hears how many bytes of the file were read so far, the compressed ones.
 */
export function openArchive(path: string, form: ArchiveForm, onBytes: (done: number) => void) {
  let done = 0;
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      done += chunk.length;
      onBytes(done);
      next(undefined, chunk);
    },
  });
  return [createReadStream(path), counting, decompressor(form)] as const;
}

function decompressor(form: ArchiveForm): Duplex {
  if (form === "gzip") return zlib.createGunzip();
  if (form === "zstd" && "createZstdDecompress" in zlib && typeof zlib.createZstdDecompress === "function") {
    const made: unknown = zlib.createZstdDecompress();
    if (made instanceof Transform) return made;
  }
  return new PassThrough();
}
