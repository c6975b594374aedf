/**
 * `npm run package`: makes all packages in `dist/packages/`, each twice the same, byte by byte, where it is made of the same
 * sources by the same tools. `--only amd64` (or arm64) makes those of one kind of machine. `--offline bookworm` (or trixie;
 * repeatable) makes a bundle for machines without a network as well, with that Debian's packages of the day.
 * SOURCE_DATE_EPOCH is the time that they carry; by default that of the last commit.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { buildExecutable } from "./build-executable.ts";
import { buildDeb } from "./debian/build-deb.ts";
import { readDescribed } from "./debian/write-control.ts";
import { fetchParts, type Parts } from "./fetch-parts.ts";
import { buildImage } from "./image/build-image.ts";
import { fetchLibraries } from "./image/fetch-libraries.ts";
import { readUsedPackages, writeNotices } from "./notices.ts";
import { buildOffline, OFFLINE_RELEASES } from "./offline/build-offline.ts";
import { OUTPUT, ROOT } from "./places.ts";
import { listFiles, readProgramTree } from "./program-tree.ts";
import { runTool } from "./run-tool.ts";
import { computeSbom } from "./sbom.ts";
import { TARGETS, type Target } from "./target.ts";

const SUMS = "SHA256SUMS";
/** The time of files from a tree without history. */
const NO_HISTORY_EPOCH = Date.UTC(1980, 0, 1) / 1000;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    offline: { type: "string", multiple: true, default: [] },
    output: { type: "string", default: OUTPUT },
  },
});
await main(values);

interface Choices {
  readonly only?: string | undefined;
  readonly offline: readonly string[];
  readonly output: string;
}

async function main({ only, offline, output }: Choices): Promise<void> {
  const chosen = TARGETS.filter(({ debian }) => only === undefined || debian === only);
  if (chosen.length === 0)
    throw new Error(`--only is ${TARGETS.map(({ debian }) => debian).join(" or ")}, not ${only}`);
  const unknown = offline.find((release) => !OFFLINE_RELEASES.includes(release));
  if (unknown !== undefined) throw new Error(`--offline is ${OFFLINE_RELEASES.join(" or ")}, not ${unknown}`);
  process.umask(0o022);
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const epoch = readEpoch();
  runTool("npm", ["pack", "--silent", "--pack-destination", output], { cwd: ROOT });
  const own = fetchParts(findOwnTarget());
  for (const target of chosen) {
    const parts = target.node === process.arch ? own : fetchParts(target);
    await buildFor(target, { parts, own, epoch, output, offline });
  }
  writeSums(output);
}

interface Making {
  readonly parts: Parts;
  readonly own: Parts;
  readonly epoch: number;
  readonly output: string;
  readonly offline: readonly string[];
}

async function buildFor(target: Target, { parts, own, epoch, output, offline }: Making): Promise<void> {
  const { version } = readDescribed();
  const packages = readUsedPackages(parts);
  const notices = writeNotices(packages, parts);
  const tree = readProgramTree(parts);
  const libraries = fetchLibraries(target);
  const place = (name: string) => join(output, name);
  const named = `nodelet-${version}-linux-${target.debian}`;
  await buildExecutable(place(named), { node: parts.node, own, tree });
  writeFileSync(place(`${named}.licences.txt`), notices);
  writeFileSync(
    place(`${named}.cdx.json`),
    computeSbom({ target, packages, libraries: libraries.packages, nodeVersion: parts.nodeVersion, epoch }),
  );
  await buildImage(place(`nodelet-image-${version}-linux-${target.debian}.tar`), {
    target,
    version,
    parts,
    tree,
    notices,
    libraries,
  });
  const deb = place(`nodelet_${version}_${target.debian}.deb`);
  buildDeb(deb, { target, parts, tree, notices, epoch });
  for (const release of new Set(offline))
    buildOffline(place(`nodelet-offline-${version}-${release}-${target.debian}.tar`), { target, release, deb, epoch });
}

function findOwnTarget(): Target {
  const own = TARGETS.find(({ node }) => node === process.arch);
  if (own === undefined) throw new Error(`packages cannot be made on ${process.arch}, only on x64 and arm64`);
  return own;
}

function readEpoch(): number {
  const given = process.env["SOURCE_DATE_EPOCH"];
  if (given !== undefined && given !== "") {
    if (!/^\d{1,10}$/.test(given)) throw new Error(`SOURCE_DATE_EPOCH is "${given}", not seconds since 1970`);
    return Number(given);
  }
  try {
    return Number(runTool("git", ["log", "-1", "--format=%ct"], { cwd: ROOT }));
  } catch {
    return NO_HISTORY_EPOCH;
  }
}

/** Writes the sums in the form that `sha256sum --check` reads, and tells of each file. */
function writeSums(output: string): void {
  const lines = listFiles(output).map((path) => {
    const content = readFileSync(join(output, path));
    console.log(`${basename(path).padEnd(44)} ${(statSync(join(output, path)).size / 1e6).toFixed(1).padStart(8)} MB`);
    return `${createHash("sha256").update(content).digest("hex")}  ${path}\n`;
  });
  writeFileSync(join(output, SUMS), lines.join(""));
}
