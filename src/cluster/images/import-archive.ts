import { spawn } from "node:child_process";
import { pipeline } from "node:stream/promises";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import { type OpenArchive, unpackArchive } from "./read-archive.ts";

/** How far the import of one archive is. */
export interface ImportProgress {
  /** The bytes of the file that were read so far. */
  readonly doneBytes: number;
  /** The image that the runtime unpacks; undefined before the first. */
  readonly image: string | undefined;
}

/** A program that reads a tar file on its standard input, with its arguments. */
interface ArchiveReader {
  readonly program: string;
  readonly args: readonly string[];
  readonly timeoutMs: number;
}

const MAX_OUTPUT_CHARACTERS = 1024 * 1024;
const MAX_REASON_CHARACTERS = 1_000;

/**
 * Hands an archive to the program as a plain tar file, and tells how far it is. Resolves with what the program printed.
 * Rejects with a CodedError: `damaged` where the archive cannot be read to its end or holds no tar file, `failed` with what the program said,
 * `timed-out`, `not-found`.
 */
export async function importArchiveFile(
  { program, args, timeoutMs }: ArchiveReader,
  archive: OpenArchive,
  onProgress: (progress: ImportProgress) => void,
): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs);
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], signal });
  let progress: ImportProgress = { doneBytes: 0, image: undefined };
  const tell = (more: Partial<ImportProgress>) => {
    progress = { ...progress, ...more };
    onProgress(progress);
  };
  let [said, complaints] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-MAX_OUTPUT_CHARACTERS);
    const image = [...said.matchAll(/^unpacking (\S+)/gm)].at(-1)?.[1];
    if (image !== undefined && image !== progress.image) tell({ image });
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complaints = `${complaints}${text}`.slice(-MAX_REASON_CHARACTERS);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const read = pipeline([...unpackArchive(archive, (doneBytes) => tell({ doneBytes })), child.stdin]);
  // Whichever fails first, the other ends too: a program without input ends, and a pipe without a reader breaks.
  const [input, outcome] = await Promise.allSettled([
    read.catch((error: unknown) => {
      if (!isBrokenPipe(error)) child.kill("SIGKILL");
      throw error;
    }),
    ended,
  ]);
  if (signal.aborted) throw new CodedError("timed-out", `${program} took longer than ${timeoutMs} ms`);
  if (outcome.status === "rejected") throw spawnError(program, outcome.reason);
  if (input.status === "rejected" && !isBrokenPipe(input.reason)) {
    const reason = messageOf(input.reason);
    const problem = codeOf(input.reason) === "no-tar" ? reason : `it cannot be read to its end: ${reason}`;
    throw new CodedError("damaged", problem, { cause: input.reason });
  }
  if (outcome.value === 0 && input.status === "fulfilled") return said;
  throw new CodedError("failed", `${program} ${args.join(" ")}: ${(complaints || said).trim()}`);
}

function isBrokenPipe(error: unknown): boolean {
  return codeOf(error) === "EPIPE" || codeOf(error) === "ECONNRESET" || codeOf(error) === "ERR_STREAM_PREMATURE_CLOSE";
}

function spawnError(program: string, reason: unknown): CodedError<"not-found" | "failed"> {
  if (codeOf(reason) === "ENOENT") return new CodedError("not-found", `${program} is not installed`);
  return new CodedError("failed", `${program}: ${messageOf(reason)}`, { cause: reason });
}
