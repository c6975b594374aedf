import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { writeCompletion } from "../../../src/cli/completion/write-completion.ts";
import { createProgram } from "../../../src/cli/main.ts";
import type { ImageEntry } from "../../../src/cluster/images/image-archive.ts";
import { RUN_TIME_ENVIRONMENT, RUN_TIME_FLAGS } from "../../../src/cluster/processes/run-time.ts";
import { computePackagedUnit } from "../../../src/cluster/service/unit-file.ts";
import type { Parts } from "../fetch-parts.ts";
import { ROOT } from "../places.ts";
import type { FileEntry } from "../program-tree.ts";
import { runTool } from "../run-tool.ts";
import type { Target } from "../target.ts";
import { readDescribed, writeChangelog, writeControl } from "./write-control.ts";

const PROGRAM = "usr/lib/nodelet";
const START = { node: `/${PROGRAM}/node`, entry: `/${PROGRAM}/dist/nodelet.js` };
const MANIFESTS = "/etc/nodelet/manifests";
const ENVIRONMENT = "/etc/default/nodelet";
/** The names that the program answers to. */
const NAMES = ["nodelet", "kubectl-nodelet", "kubelet"];
const MAINTAINER_SCRIPTS = ["postinst", "prerm", "postrm"];
const BEST_COMPRESSION = 9;

interface DebParts {
  readonly target: Target;
  readonly parts: Pick<Parts, "node">;
  readonly tree: readonly FileEntry[];
  readonly notices: string;
  /** Seconds since 1970: the time of each file. */
  readonly epoch: number;
}

/** Writes the Debian package. */
export function buildDeb(output: string, { target, parts, tree, notices, epoch }: DebParts): void {
  const work = mkdtempSync(join(tmpdir(), "nodelet-deb-"));
  chmodSync(work, 0o755);
  try {
    const described = readDescribed();
    const documents = [
      gzipped("usr/share/doc/nodelet/changelog.gz", writeChangelog(described, epoch)),
      text("usr/share/doc/nodelet/copyright", writeCopyright(notices)),
    ];
    const entries = [...computeProgram(parts, tree), ...computeSurroundings(described.version), ...documents];
    const bytes = entries.reduce((sum, entry) => sum + (entry.type === "file" ? entry.data.length : 0), 0);
    const control = [
      text("DEBIAN/control", writeControl(described, target, Math.ceil(bytes / 1024))),
      text("DEBIAN/conffiles", `${ENVIRONMENT}\n`),
      text("DEBIAN/md5sums", computeSums(work, entries, epoch)),
      ...MAINTAINER_SCRIPTS.map((name) => program(`DEBIAN/${name}`, readTemplate(name))),
    ];
    writeEntries(work, control, epoch);
    const options = ["--root-owner-group", "-Zxz", "-z3", "--threads-max=1"];
    runTool("dpkg-deb", [...options, "--build", work, output], { environment: { SOURCE_DATE_EPOCH: `${epoch}` } });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function computeProgram({ node }: DebParts["parts"], tree: readonly FileEntry[]): ImageEntry[] {
  const environment = Object.entries(RUN_TIME_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
  const wrapper = readTemplate("nodelet")
    .replace("@ENVIRONMENT@", environment.join(" "))
    .replace("@FLAGS@", RUN_TIME_FLAGS.join(" "));
  return [
    { type: "file", path: `${PROGRAM}/node`, mode: 0o755, data: readFileSync(node) },
    ...tree.map((entry) => ({ ...entry, path: `${PROGRAM}/${entry.path}` })),
    ...NAMES.map((name) => link(`${PROGRAM}/bin/${name}`, "../dist/nodelet.js")),
    program("usr/bin/nodelet", wrapper),
    link("usr/bin/kubectl-nodelet", "nodelet"),
  ];
}

/** What is around the program: its service, its configuration, its manual, and what shells complete. */
function computeSurroundings(version: string): ImageEntry[] {
  const commands = createProgram({ argv: [], entry: "", version }, async (code) => void (await code));
  return [
    text(
      "usr/lib/systemd/system/nodelet.service",
      computePackagedUnit(START, { manifests: MANIFESTS, environment: ENVIRONMENT }),
    ),
    text(ENVIRONMENT.slice(1), readTemplate("default")),
    { type: "directory", path: MANIFESTS.slice(1), mode: 0o755 },
    gzipped("usr/share/man/man1/nodelet.1.gz", readFileSync(join(ROOT, "dist/nodelet.1"))),
    link("usr/share/man/man1/kubectl-nodelet.1.gz", "nodelet.1.gz"),
    text("usr/share/bash-completion/completions/nodelet", writeCompletion("bash", commands)),
    text("usr/share/zsh/vendor-completions/_nodelet", writeCompletion("zsh", commands)),
    text("usr/share/fish/vendor_completions.d/nodelet.fish", writeCompletion("fish", commands)),
    text("usr/share/lintian/overrides/nodelet", readTemplate("lintian-overrides")),
    gzipped("usr/share/doc/nodelet/CHANGELOG.md.gz", readFileSync(join(ROOT, "CHANGELOG.md"))),
    gzipped("usr/share/doc/nodelet/README.md.gz", readFileSync(join(ROOT, "README.md"))),
  ];
}

/** The licences in the form that tools of Debian read: a field, and the text indented. */
function writeCopyright(notices: string): string {
  const indented = notices.split("\n").map((line) => (line.trim() === "" ? " ." : ` ${line.trimEnd()}`));
  const head = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: nodelet\n";
  return `${head}\nFiles: *\nCopyright: the authors of nodelet and of what it is made of\nLicense: nodelet-and-parts\n${indented.join("\n")}\n`;
}

/** Writes the files, and returns their sums as `md5sum` prints them. */
function computeSums(work: string, entries: readonly ImageEntry[], epoch: number): string {
  writeEntries(work, entries, epoch);
  const files = entries.flatMap(({ type, path }) => (type === "file" ? [path] : [])).sort();
  return runTool("md5sum", files, { cwd: work });
}

function writeEntries(work: string, entries: readonly ImageEntry[], epoch: number): void {
  for (const entry of entries) {
    const path = join(work, entry.path);
    mkdirSync(entry.type === "directory" ? path : dirname(path), { recursive: true, mode: 0o755 });
    if (entry.type === "symlink") symlinkSync(entry.target, path);
    if (entry.type !== "file") continue;
    writeFileSync(path, entry.data, { mode: entry.mode });
    utimesSync(path, epoch, epoch);
  }
}

function readTemplate(name: string): string {
  return readFileSync(join(import.meta.dirname, name), "utf8");
}

const text = (path: string, content: string): ImageEntry => ({
  type: "file",
  path,
  mode: 0o644,
  data: Buffer.from(content),
});
const program = (path: string, content: string): ImageEntry => ({
  type: "file",
  path,
  mode: 0o755,
  data: Buffer.from(content),
});
const link = (path: string, target: string): ImageEntry => ({ type: "symlink", path, target });
const gzipped = (path: string, content: string | Buffer): ImageEntry => {
  return { type: "file", path, mode: 0o644, data: gzipSync(content, { level: BEST_COMPRESSION }) };
};
