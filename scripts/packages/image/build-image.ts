import { readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import { buildImageArchive, type ImageEntry } from "../../../src/cluster/images/image-archive.ts";
import { RUN_TIME_ENVIRONMENT, RUN_TIME_FLAGS } from "../../../src/cluster/processes/run-time.ts";
import type { Parts } from "../fetch-parts.ts";
import type { FileEntry } from "../program-tree.ts";
import type { Target } from "../target.ts";
import type { Libraries } from "./fetch-libraries.ts";

const PROGRAM = "usr/lib/nodelet";
const SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

interface ImageParts {
  readonly target: Target;
  readonly version: string;
  readonly parts: Pick<Parts, "node">;
  readonly tree: readonly FileEntry[];
  readonly notices: string;
  readonly libraries: Libraries;
}

/** Writes an image of the program as an archive, which `nodelet images load` and `ctr image import` read. */
export async function buildImage(
  output: string,
  { target, version, parts, tree, notices, libraries }: ImageParts,
): Promise<void> {
  const files: ImageEntry[] = [
    ...libraries.entries,
    { type: "file", path: `${PROGRAM}/node`, mode: 0o755, data: readFileSync(parts.node) },
    ...tree.map((entry) => ({ ...entry, path: `${PROGRAM}/${entry.path}` })),
    text("usr/share/doc/nodelet/copyright", notices),
    text("etc/group", "root:x:0:\nnogroup:x:65534:\n"),
    text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    text("etc/passwd", "root:x:0:0:root:/root:/usr/sbin/nologin\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"),
  ];
  const empty: ImageEntry[] = [
    ...["dev", "proc", "sys", "root", "run", "var", "var/lib", "var/lib/nodelet"].map((path) => directory(path)),
    directory("tmp", 0o1777),
  ];
  const archive = await buildImageArchive({
    reference: `localhost/nodelet/nodelet:${version}`,
    architecture: target.debian,
    isCompressed: true,
    config: {
      Env: [`PATH=${SEARCH_PATH}`, ...Object.entries(RUN_TIME_ENVIRONMENT).map(([name, value]) => `${name}=${value}`)],
      Entrypoint: [`/${PROGRAM}/node`, ...RUN_TIME_FLAGS, `/${PROGRAM}/dist/nodelet.js`],
      WorkingDir: "/",
    },
    entries: sortEntries([...empty, ...files]),
  });
  writeFileSync(output, archive);
}

/** Adds the directories that lie above the entries, and brings all into an order in which a parent comes first. */
function sortEntries(entries: readonly ImageEntry[]): ImageEntry[] {
  const all = new Map(entries.map((entry) => [entry.path, entry]));
  for (const { path } of entries) {
    for (let above = posix.dirname(path); above !== "."; above = posix.dirname(above)) {
      if (!all.has(above)) all.set(above, directory(above));
    }
  }
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function directory(path: string, mode = 0o755): ImageEntry {
  return { type: "directory", path, mode };
}

function text(path: string, content: string): ImageEntry {
  return { type: "file", path, mode: 0o644, data: Buffer.from(content) };
}
