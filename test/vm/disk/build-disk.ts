import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, copyFile, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { runCommand } from "../../../src/cluster/processes/run-command.ts";
import { DEVICE_PLUGIN, FINISHING, GUEST_FILES, NEWER, PACKAGES, RELEASES, type Release } from "./recipe.ts";

const MIRROR = "http://deb.debian.org/debian";
/** Building takes a minute on a fast machine, and many on a slow one. */
const TIMEOUT_MS = 1_800_000;
/** Most of it is a file without blocks. */
const DISK_SIZE = "6G";
const NEVER_READ = ["doc", "man", "locale", "info"];

/** What a virtual machine is started with. */
export interface Disk {
  readonly image: string;
  readonly kernel: string;
  readonly initrd: string;
}

/** Makes the machine's tree of files, and in it this checkout's own package and device plugin, which are made anew each time. */
export async function buildTree(cache: string, release: Release): Promise<string> {
  const tree = await buildBaseTree(cache, release);
  await installPackage(tree, cache);
  await build({
    ...{ entryPoints: [join(import.meta.dirname, "device-plugin.ts")], outfile: join(tree, DEVICE_PLUGIN) },
    ...{ bundle: true, platform: "node", format: "cjs", logLevel: "error" },
  });
  return tree;
}

/**
 * Makes the machine's tree of files of Debian's packages alone. It is kept from run to run as long as the recipe is the
 * same, with what `buildTree` has put into it. Returns its directory.
 */
export async function buildBaseTree(cache: string, release: Release): Promise<string> {
  const recipe = createHash("sha256").update(JSON.stringify([release, PACKAGES, NEWER, GUEST_FILES, FINISHING]));
  const tree = join(cache, `tree-${recipe.digest("hex").slice(0, 12)}`);
  if (!existsSync(tree)) {
    await mkdir(cache, { recursive: true });
    await buildBase(`${tree}.new`, release);
    await rename(`${tree}.new`, tree);
  }
  return tree;
}

/** Copies the tree, for a machine that changes its files. Returns the copy's directory. */
export async function copyTree(tree: string, directory: string): Promise<string> {
  const copy = join(directory, "tree");
  await runLong("cp", ["--archive", "--reflink=auto", tree, copy]);
  return copy;
}

/** Fills a disk with the tree, without mounting it. */
export async function buildDisk(tree: string, cache: string): Promise<Disk> {
  const image = join(cache, "disk.img");
  await rm(image, { force: true });
  await runLong("mke2fs", ["-q", "-t", "ext4", "-L", "nodelet-vm", "-d", tree, image, DISK_SIZE]);
  const boot = await readdir(join(tree, "boot"));
  const find = (start: string) => join(tree, "boot", boot.find((name) => name.startsWith(start)) ?? start);
  return { image, kernel: find("vmlinuz-"), initrd: find("initrd.img-") };
}

async function buildBase(tree: string, release: Release): Promise<void> {
  await rm(tree, { recursive: true, force: true });
  const excluded = NEVER_READ.map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`);
  const { hasNode, hasNewer } = RELEASES[release];
  const packages = [...PACKAGES, ...(hasNode ? ["nodejs"] : [])];
  const options = ["--variant=minbase", ...excluded, `--include=${packages.join(",")}`];
  const newer = hasNewer
    ? { options: newerOptions(release), sources: [`deb ${MIRROR} ${NEWER.suite} main`] }
    : undefined;
  const sources = [`deb ${MIRROR} ${release} main`, ...(newer?.sources ?? [])];
  await runLong("mmdebstrap", [...options, ...(newer?.options ?? []), release, tree, ...sources]);
  if (!hasNode) await copyFile(process.execPath, join(tree, "usr/bin/node"));
  for (const { path, text, isProgram } of GUEST_FILES) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await writeFile(join(tree, path), text);
    if (isProgram) await chmod(join(tree, path), 0o755);
  }
  for (const command of FINISHING) await runLong("chroot", [tree, ...command]);
}

/** Fetches packages of the newer suite without installing them: whatever is installed is the release's own. */
function newerOptions(release: Release): string[] {
  const names = NEWER.packages.map((name) => `${name}/${NEWER.suite}`).join(" ");
  const fetch = `mkdir -p "$1${NEWER.directory}" && cd "$1${NEWER.directory}" && APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get download ${names}`;
  // A mirror that is some days behind has a list that says it is too old; its packages are signed all the same.
  const options = [`APT::Default-Release "${release}"`, 'Acquire::Check-Valid-Until "false"'];
  return [...options.map((option) => `--aptopt=${option}`), `--customize-hook=${fetch}`];
}

/** What `npm install --global nodelet` would do on the machine, with the package that `dist/` makes. */
async function installPackage(tree: string, cache: string): Promise<void> {
  const printed = await runLong("npm", ["pack", "--silent", "--pack-destination", cache]);
  const archive = join(cache, printed.trim().split("\n").at(-1) ?? "");
  const quiet = ["--silent", "--no-audit", "--no-fund", "--prefer-offline"];
  await runLong("npm", ["install", "--global", ...quiet, "--prefix", join(tree, "usr/local"), archive]);
  await rm(archive);
}

async function runLong(program: string, args: readonly string[]): Promise<string> {
  return await runCommand(program, args, { timeoutMs: TIMEOUT_MS });
}
