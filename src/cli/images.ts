import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { formatByteSize } from "../base/byte-size.ts";
import { messageOf } from "../base/errors.ts";
import { toPlainLines, toPlainText } from "../base/plain-text.ts";
import type { ArchiveImporter } from "../cluster/images/archive-importer.ts";
import { readArchitecture } from "../cluster/images/build-images.ts";
import { connectImages } from "../cluster/images/connect-images.ts";
import type { ImportProgress } from "../cluster/images/import-archive.ts";
import { loadArchive, type NamedArchive } from "../cluster/images/load-archive.ts";
import {
  type ImageStore,
  listNodeImages,
  type NodeImage,
  pruneNodeImages,
  removeNodeImage,
} from "../cluster/images/node-images.ts";
import { readRuntimeOptions } from "../cluster/supervisor/runtime-options.ts";
import type { StateLayout } from "../cluster/supervisor/state-layout.ts";
import { ImageStatusRequest } from "../cri/gen/cri-v1.ts";
import { linuxFiles } from "../host/linux/files/linux-files.ts";
import { keepImage } from "../node/runtime/images/kept-images.ts";
import { formatOutput, type OutputFormat } from "./format-output.ts";
import { openProgress } from "./open-progress.ts";
import { requireRoot } from "./require-root.ts";
import { formatTable } from "./text-table.ts";

/** What is asked of the images of a node. */
export type ImagesCommand =
  | { readonly verb: "ls" | "prune" }
  | { readonly verb: "load"; readonly files: readonly string[]; readonly quiet: boolean }
  | { readonly verb: "rm"; readonly images: readonly string[]; readonly force: boolean };

/** The ways to the images of a node that runs. */
interface Connection {
  readonly store: ImageStore;
  readonly importer: ArchiveImporter;
}

/** Where the answers go: lines for people as they come, or one value for programs at the end. */
interface Printer {
  line(text: string): void;
  /** A failure of one of several; the others are still done. */
  failure(text: string): void;
  /** What takes long, and how far it is. */
  waiting(text: string | undefined, howFar?: () => string): void;
}

const SIGNAL = new AbortController().signal;
const ID_CHARACTERS = 13;

/** Does one command on the images of the node's containerd, which must run. Returns the exit code. */
export async function images(
  layout: StateLayout,
  command: ImagesCommand,
  output: OutputFormat | undefined,
): Promise<number> {
  requireRoot(`images ${command.verb}`);
  const { binary } = await readRuntimeOptions(layout.directory);
  const { cri, importer } = await connectImages(layout.runtime, { binary });
  const connection = { store: { ...cri, keptImages: layout.keptImages }, importer };
  const problems: string[] = [];
  // The standard output of a program that asked for one value is that value alone.
  const progress = output === undefined ? openProgress("text") : openProgress("json", process.stderr);
  const print: Printer = {
    line(text) {
      if (output === undefined) progress.line(text);
    },
    waiting: progress.waiting,
    failure(text) {
      problems.push(text);
      if (output === undefined) console.error(`nodelet: ${toPlainLines(text)}`);
    },
  };
  try {
    const result = await run(connection, command, print);
    if (output !== undefined) console.log(formatOutput({ ...result, problems }, output));
    return problems.length === 0 ? 0 : 1;
  } finally {
    progress.waiting(undefined);
    cri.close();
  }
}

async function run(connection: Connection, command: ImagesCommand, print: Printer): Promise<object> {
  const { store } = connection;
  switch (command.verb) {
    case "ls": {
      const found = await listNodeImages(store, SIGNAL);
      print.line(formatImages(found));
      return { images: found };
    }
    case "load":
      return { loaded: await loadAll(connection, command, print) };
    case "rm":
      return { removed: await removeAll(store, command, print) };
    case "prune": {
      const onRemoved = (image: NodeImage) => print.line(`removed ${titleOf(image)}`);
      print.waiting("containerd, which removes images");
      const removed = await pruneNodeImages(store, { onRemoved, signal: SIGNAL });
      print.waiting(undefined);
      const freedBytes = removed.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
      print.line(`${removed.length} images removed, ${formatByteSize(freedBytes)} freed`);
      return { removed, freedBytes };
    }
  }
}

async function loadAll(
  connection: Connection,
  { files, quiet }: Extract<ImagesCommand, { verb: "load" }>,
  print: Printer,
): Promise<string[]> {
  const loaded: string[] = [];
  const isKnown = async (image: string) => {
    const request = ImageStatusRequest.fromPartial({ image: { image } });
    return (await connection.store.images.imageStatus(request)).image !== undefined;
  };
  const platform = `linux/${readArchitecture()}`;
  for (const archive of files.map(archiveOf)) {
    const { path, title } = archive;
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    let progress: ImportProgress = { doneBytes: 0, image: undefined };
    if (!quiet) {
      print.line(`loading ${title} …`);
      print.waiting("containerd, which", () => describeLoading(title, size, progress));
    }
    const onProgress = (now: ImportProgress) => {
      progress = now;
    };
    try {
      const names = await loadArchive({ importer: connection.importer, isKnown, platform, onProgress }, archive);
      for (const name of names) await keepImage(linuxFiles, connection.store.keptImages, name);
      for (const name of names) print.line(toPlainText(`loaded ${name}`));
      loaded.push(...names);
    } catch (error) {
      print.waiting(undefined);
      print.failure(messageOf(error));
    }
    print.waiting(undefined);
  }
  return loaded;
}

/** `-` is what others read as such, too. */
function archiveOf(name: string): NamedArchive {
  if (name === "-") return { path: "/dev/stdin", title: "standard input" };
  return { path: resolve(name), title: resolve(name) };
}

/** Says how much of the archive is read, and which image is unpacked. */
function describeLoading(title: string, size: number, { doneBytes, image }: ImportProgress): string {
  const share = size === 0 ? "" : ` (${Math.floor((Math.min(doneBytes, size) / size) * 100)}%)`;
  const whole = size === 0 ? "" : ` of ${formatByteSize(size)}${share}`;
  const read = ` has read ${formatByteSize(doneBytes)}${whole} of ${title}`;
  return image === undefined ? read : `${read}, and unpacks ${image}`;
}

async function removeAll(
  store: ImageStore,
  { images: wanted, force }: Extract<ImagesCommand, { verb: "rm" }>,
  print: Printer,
): Promise<NodeImage[]> {
  const removed: NodeImage[] = [];
  for (const image of wanted) {
    try {
      const gone = await removeNodeImage(store, image, { isForced: force, signal: SIGNAL });
      print.line(`removed ${titleOf(gone)}`);
      removed.push(gone);
    } catch (error) {
      print.failure(messageOf(error));
    }
  }
  return removed;
}

function titleOf({ names, digests, id }: NodeImage): string {
  return toPlainText(names.length > 0 ? names.join(", ") : (digests[0] ?? id));
}

/** Formats the images as a table. */
export function formatImages(found: readonly NodeImage[]): string {
  if (found.length === 0) return "No images.";
  const rows = found.flatMap((image) => {
    const names = image.names.length > 0 ? image.names : [image.digests[0] ?? "<none>"];
    const id = image.id.replace(/^sha256:/, "").slice(0, ID_CHARACTERS);
    const use = image.inUse ? "yes" : image.isKept ? "kept" : "no";
    return names.map((name) => [name, id, formatByteSize(image.sizeBytes), use]);
  });
  return formatTable(["IMAGE", "ID", "SIZE", "IN USE"], rows);
}
