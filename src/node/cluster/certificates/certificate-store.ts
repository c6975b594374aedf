import { posix } from "node:path";
import { type Clock, formatTime } from "../../../base/clock.ts";
import { codeOf } from "../../../base/errors.ts";
import type { Files } from "../../../host/port.ts";
import type { KeyedCertificate } from "../../../pki/read-certificate.ts";
import { formatPair, readPair } from "./pem-pair.ts";

/**
 * One of the node's two certificates: the node authenticates with `kubelet-client`, and serves its own API with
 * `kubelet-server`.
 */
export type PairName = "kubelet-client" | "kubelet-server";

/**
 * A certificate with its key on disk, as client-go's file store keeps it (client-go/util/certificate): each pair has a
 * file of its own, `NAME-2026-03-01-12-00-00.pem`, and a link `NAME-current.pem` moves from one file to the next in one
 * step. A Go kubelet that takes over finds what this store left, and the other way round.
 */
export interface CertificateStore {
  /** The path of the link, for code that reads the pair by path. */
  readonly currentPath: string;
  /** The pair is undefined when there is none, or when what is there cannot be used. */
  read(): Promise<KeyedCertificate | undefined>;
  /** Writes the pair. After a crash at any point either the old pair is current or the new one. */
  write(pair: KeyedCertificate): Promise<void>;
}

interface CertificateStoreDeps {
  readonly files: Pick<
    Files,
    "read" | "writeAtomically" | "makeDirectory" | "list" | "stat" | "link" | "readLink" | "remove"
  >;
  readonly clock: Pick<Clock, "now">;
}

/** The bound of a file's size. A pair with a long chain has a tenth of it. */
const MAX_PAIR_BYTES = 256 * 1024;
/** Upstream keeps every pair for ever; the last few are enough to look at. */
const MAX_KEPT_PAIRS = 5;

export function createCertificateStore(
  { files, clock }: CertificateStoreDeps,
  { directory, pairName }: { directory: string; pairName: PairName },
): CertificateStore {
  const currentPath = posix.join(directory, `${pairName}-current.pem`);
  const dated = new RegExp(`^${pairName}-\\d{4}(-\\d\\d){5}\\.pem$`);

  const removeOld = async () => {
    const entries = await files.list(directory);
    const current = posix.basename((await files.readLink(currentPath)) ?? "");
    const names = entries.map(({ name }) => name).filter((name) => dated.test(name) && name !== current);
    for (const name of names.slice(0, -(MAX_KEPT_PAIRS - 1))) await files.remove(posix.join(directory, name));
  };

  return {
    currentPath,
    async read() {
      await recoverLink({ files, currentPath, updatedPath: posix.join(directory, `${pairName}-updated.pem`) });
      const text = await readText(files, currentPath);
      return text === undefined ? undefined : readPair(text, text);
    },
    async write(pair) {
      await ensureDirectory(files, directory);
      // `2026-03-01T12:00:00Z` → `2026-03-01-12-00-00`.
      const stamp = formatTime(clock.now()).slice(0, -1).replace(/[T:]/g, "-");
      const path = posix.join(directory, `${pairName}-${stamp}.pem`);
      await files.writeAtomically(path, formatPair(pair), 0o600);
      await files.link(path, currentPath).catch((error: unknown) => {
        if (codeOf(error) !== "EEXIST") throw error;
        throw new Error(`expected "${currentPath}" to be a symlink but it is a file`, { cause: error });
      });
      await removeOld();
    },
  };
}

/**
 * Restores the current link. A Go kubelet that died between two steps of its own leaves the link under another name.
 */
async function recoverLink({
  files,
  currentPath,
  updatedPath,
}: Pick<CertificateStoreDeps, "files"> & { currentPath: string; updatedPath: string }): Promise<void> {
  if ((await files.stat(currentPath)) !== undefined) return;
  const target = await files.readLink(updatedPath);
  if (target !== undefined) await files.link(target, currentPath);
}

/** The result is undefined where there is no file. */
export async function readText(files: Pick<Files, "read">, path: string): Promise<string | undefined> {
  try {
    return (await files.read(path, MAX_PAIR_BYTES)).toString("utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Makes the directory with upstream's mode. A directory that exists keeps its mode. */
export async function ensureDirectory(files: Pick<Files, "stat" | "makeDirectory">, path: string): Promise<void> {
  if ((await files.stat(path)) === undefined) await files.makeDirectory(path, 0o755);
}
