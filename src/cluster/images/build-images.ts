import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import { findProgram } from "../containerd/machine-facts.ts";
import { runCommand } from "../processes/run-command.ts";
import { buildImageArchive, type ImageContent, type ImageEntry } from "./image-archive.ts";
import { DEMO_IMAGE, PAUSE_IMAGE } from "./image-references.ts";
import { type Architecture, computePauseProgram } from "./pause-program.ts";

interface BuiltImage {
  ref: string;
  /** The path of its tar file. */
  tar: string;
}

/**
 * Writes the pause and the demo image into `directory` as tar files. They are made from this machine's files, without a
 * registry. Rejects with `busybox-missing` where there is no static busybox.
 */
export async function buildImages(directory: string): Promise<BuiltImage[]> {
  const architecture = readArchitecture();
  const pause = computePauseImage(architecture);
  const demo = await readDemoImage(architecture);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  return [await writeImage(directory, "pause", pause), await writeImage(directory, "demo", demo)];
}

/** The architecture of this machine, by the name that images have for it. Throws `unsupported-architecture`. */
export function readArchitecture(): Architecture {
  if (process.arch === "x64") return "amd64";
  if (process.arch === "arm64") return "arm64";
  throw new CodedError("unsupported-architecture", `no pause image for ${process.arch}: only x64 and arm64`);
}

async function writeImage(directory: string, name: string, image: ImageContent): Promise<BuiltImage> {
  const path = join(directory, `${name}.tar`);
  await writeFile(`${path}.new`, await buildImageArchive(image), { mode: 0o600 });
  await rename(`${path}.new`, path);
  return { ref: image.reference, tar: path };
}

/** Computes the image of every sandbox: one small program and nothing else. */
export function computePauseImage(architecture: Architecture): ImageContent {
  return {
    reference: PAUSE_IMAGE,
    architecture,
    config: { Entrypoint: ["/pause"] },
    entries: [{ type: "file", path: "pause", mode: 0o755, data: computePauseProgram(architecture) }],
  };
}

async function readDemoImage(architecture: Architecture): Promise<ImageContent> {
  const path = await findProgram("busybox");
  if (path === undefined) throw new CodedError("busybox-missing", "no busybox: install busybox-static");
  const data = await readFile(path);
  if (isDynamic(data))
    throw new CodedError("busybox-missing", `${path} needs shared libraries: install busybox-static`);
  const applets = (await runCommand(path, ["--list"])).split("\n").filter((name) => /^[\w[.+-]+$/.test(name));
  return computeDemoImage({ architecture, busybox: data, applets });
}

/** Tells whether a program is dynamic, which means that it names its loader. */
function isDynamic(program: Buffer): boolean {
  return program.subarray(0, 4096).includes("/ld-linux") || program.subarray(0, 4096).includes("/ld-musl");
}

interface DemoParts {
  architecture: Architecture;
  busybox: Buffer;
  applets: readonly string[];
}

/**
 * Computes the demo image: busybox with a link for each of its applets, the accounts `root` and `nobody`, and the usual
 * empty directories.
 */
export function computeDemoImage(parts: DemoParts): ImageContent {
  const applets = [...new Set(parts.applets)].filter((name) => name !== "busybox").sort();
  const directory = (path: string, mode = 0o755): ImageEntry => ({ type: "directory", path, mode });
  const text = (path: string, content: string): ImageEntry => {
    return { type: "file", path, mode: 0o644, data: Buffer.from(content) };
  };
  const entries: ImageEntry[] = [
    ...["bin", "dev", "etc", "home", "proc", "root", "sys"].map((path) => directory(path)),
    directory("tmp", 0o1777),
    ...["usr", "var", "www"].map((path) => directory(path)),
    { type: "file", path: "bin/busybox", mode: 0o755, data: parts.busybox },
    ...applets.map((name): ImageEntry => ({ type: "symlink", path: `bin/${name}`, target: "busybox" })),
    { type: "symlink", path: "usr/bin", target: "../bin" },
    text("etc/group", "root:x:0:\nnogroup:x:65534:\n"),
    text("etc/passwd", "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n"),
    text("www/index.html", "<h1>It works</h1>\n"),
  ];
  const config = { Env: ["PATH=/usr/local/bin:/usr/bin:/bin"], Cmd: ["/bin/sh"], WorkingDir: "/" };
  return { reference: DEMO_IMAGE, architecture: parts.architecture, config, entries };
}
