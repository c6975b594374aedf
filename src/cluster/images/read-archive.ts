import { type FileHandle, open } from "node:fs/promises";
import { type Duplex, PassThrough, type Readable, Transform } from "node:stream";
import * as zlib from "node:zlib";
import { CodedError } from "../../base/errors.ts";

/** How an archive is written: a plain tar file, or what a program made smaller. */
type ArchiveForm = "tar" | "gzip" | "zstd";

/** An archive whose beginning was read. */
export interface OpenArchive {
  readonly form: ArchiveForm;
  /** All bytes, as they are written. A pipe can be read once only. */
  readonly bytes: Readable;
}

const HEAD_BYTES = 512;
/** `ustar` of a tar file, and the first bytes of what other programs wrote. */
const TAR = { offset: 257, bytes: Buffer.from("ustar") };
const COMPRESSED: readonly { form: ArchiveForm; magic: Buffer }[] = [
  { form: "gzip", magic: Buffer.from([0x1f, 0x8b]) },
  { form: "zstd", magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]) },
];
const UNREAD: readonly { problem: string; magic: Buffer }[] = [
  { problem: "it is compressed by xz: decompress it first (xz -d FILE)", magic: Buffer.from("\xfd7zXZ\0", "latin1") },
  { problem: "it is compressed by bzip2: decompress it first (bzip2 -d FILE)", magic: Buffer.from("BZh") },
  { problem: "it is a zip file: unpack it first (unzip FILE)", magic: Buffer.from("PK\x03\x04", "latin1") },
];

/**
 * Opens an archive, a file or a pipe, and says by its first bytes how it is written; a text says why it is none. Rejects
 * where it cannot be read. Who does not read `bytes` to their end destroys them.
 */
export async function openArchive(path: string): Promise<OpenArchive | { readonly problem: string }> {
  const file = await open(path, "r");
  try {
    const found = await readForm(file);
    if ("problem" in found) {
      await file.close();
      return found;
    }
    const bytes = file.createReadStream();
    bytes.unshift(found.head);
    return { form: found.form, bytes };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function readForm(file: FileHandle): Promise<{ form: ArchiveForm; head: Buffer } | { problem: string }> {
  const status = await file.stat();
  if (status.isDirectory()) return { problem: "it is a directory: name the archive itself" };
  // From a terminal nobody types an archive.
  if (!status.isFile() && !status.isFIFO()) return { problem: "it is no file and no pipe" };
  const head = await readHead(file);
  if (head.length === 0) return { problem: "it is empty" };
  if (isTar(head)) return { form: "tar", head };
  const begins = ({ magic }: { magic: Buffer }) => head.subarray(0, magic.length).equals(magic);
  const compressed = COMPRESSED.find(begins);
  if (compressed !== undefined) return { form: compressed.form, head };
  return { problem: UNREAD.find(begins)?.problem ?? "it is neither a tar file nor a compressed one" };
}

/** A pipe gives what is there, which may be less than what is asked for. */
async function readHead(file: FileHandle): Promise<Buffer> {
  const head = Buffer.alloc(HEAD_BYTES);
  let length = 0;
  while (length < HEAD_BYTES) {
    const { bytesRead } = await file.read(head, length, HEAD_BYTES - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return head.subarray(0, length);
}

function isTar(head: Buffer): boolean {
  return head.subarray(TAR.offset, TAR.offset + TAR.bytes.length).equals(TAR.bytes);
}

/** Whether this Node.js can read zstd; where it cannot, the runtime is handed the file as it is. */
export const readsZstd = "createZstdDecompress" in zlib;

/**
 * The streams through which an archive becomes a plain tar file, to be joined by a pipeline: old runtimes read no other.
 * They fail with a CodedError `no-tar` where it becomes something else. `onBytes` hears how many bytes of the archive were
 * read so far, the compressed ones.
 */
export function unpackArchive({ form, bytes }: OpenArchive, onBytes: (done: number) => void) {
  let done = 0;
  const counting = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      done += chunk.length;
      onBytes(done);
      next(undefined, chunk);
    },
  });
  return [bytes, counting, ...unpackers(form)] as const;
}

function unpackers(form: ArchiveForm): Duplex[] {
  if (form === "gzip") return [zlib.createGunzip(), expectTar(form)];
  if (form === "zstd" && "createZstdDecompress" in zlib && typeof zlib.createZstdDecompress === "function") {
    const made: unknown = zlib.createZstdDecompress();
    if (made instanceof Transform) return [made, expectTar(form)];
  }
  return [new PassThrough()];
}

/** Lets through what begins as a tar file does. */
function expectTar(form: ArchiveForm): Transform {
  const refused = () => new CodedError("no-tar", `what ${form} has compressed is no tar file`);
  let head: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, next) {
      if (head === undefined) return next(undefined, chunk);
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES) return next();
      const begin = head;
      head = undefined;
      if (isTar(begin)) next(undefined, begin);
      else next(refused());
    },
    flush: (next) => next(head === undefined ? undefined : refused()),
  });
}
