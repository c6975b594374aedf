import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { runTool } from "../run-tool.ts";
import type { Target } from "../target.ts";

/** The releases of Debian that an offline bundle can be made for. */
export const OFFLINE_RELEASES: readonly string[] = ["bookworm", "trixie"];

const MIRROR = "http://deb.debian.org";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const INDEX = "Packages";
/** Each Debian has it, and apt would otherwise bring Perl to merge directories that are merged. */
const PRESENT = "usr-is-merged";
/** How apt writes the epoch of a version into a file's name: what reads the name as an address reads it otherwise. */
const EPOCH = /_\d+%3a/;

interface OfflineParts {
  readonly target: Target;
  readonly release: string;
  /** The Debian package of nodelet for that target. */
  readonly deb: string;
  /** Seconds since 1970: the time of each file. */
  readonly epoch: number;
}

/**
 * Writes a tar archive with nodelet's Debian package, all that it needs of Debian's release with its security updates, and
 * a script that installs them on a machine without a network. apt checks what it fetches against the release's signatures.
 */
export function buildOffline(output: string, { target, release, deb, epoch }: OfflineParts): void {
  const work = mkdtempSync(join(tmpdir(), "nodelet-offline-"));
  try {
    const name = basename(output, ".tar");
    const packages = join(work, name, "packages");
    mkdirSync(packages, { recursive: true });
    copyFileSync(deb, join(packages, basename(deb)));
    writeIndex(packages);
    fetchNeeded(join(work, "apt"), { target, release, packages });
    writeIndex(packages);
    const script = readFileSync(join(import.meta.dirname, "install"), "utf8").replaceAll("@RELEASE@", release);
    writeFileSync(join(work, name, "install"), script);
    chmodSync(join(work, name, "install"), 0o755);
    const same = ["--sort=name", `--mtime=@${epoch}`, "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"];
    runTool("tar", ["--create", ...same, "--mode=go-w", `--file=${output}`, `--directory=${work}`, name]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

type Fetching = Pick<OfflineParts, "target" | "release"> & { readonly packages: string };

/** Puts what apt would install beside nodelet on a machine that has nothing into the directory of the packages. */
function fetchNeeded(place: string, { target, release, packages }: Fetching): void {
  for (const directory of ["lists/partial", "cache/archives/partial"])
    mkdirSync(join(place, directory), { recursive: true });
  writeFileSync(join(place, "status"), "");
  symlinkSync(packages, join(place, "own"));
  const sources = [
    `deb [trusted=yes] file:${place}/own ./`,
    `deb [signed-by=${KEYRING}] ${MIRROR}/debian ${release} main`,
    `deb [signed-by=${KEYRING}] ${MIRROR}/debian-security ${release}-security main`,
  ];
  writeFileSync(join(place, "sources.list"), `${sources.join("\n")}\n`);
  const options = {
    "APT::Architecture": target.debian,
    "APT::Architectures": target.debian,
    "APT::Sandbox::User": "root",
    // A mirror that is some days behind has a list that says it is too old; its packages are signed all the same.
    "Acquire::Check-Valid-Until": "false",
    "Dir::Etc::SourceList": join(place, "sources.list"),
    "Dir::Etc::SourceParts": "/dev/null",
    "Dir::Etc::Preferences": "/dev/null",
    "Dir::Etc::PreferencesParts": "/dev/null",
    "Dir::State": place,
    "Dir::State::Status": join(place, "status"),
    "Dir::Cache": join(place, "cache"),
  };
  const words = Object.entries(options).flatMap(([key, value]) => ["-o", `${key}=${value}`]);
  runTool("apt-get", ["-q", ...words, "-o", "APT::Update::Error-Mode=any", "update"]);
  const install = ["--yes", "--no-install-recommends", "--download-only", "install", "nodelet", PRESENT];
  runTool("apt-get", ["-q", ...words, ...install]);
  const archives = join(place, "cache/archives");
  for (const file of readdirSync(archives).filter((entry) => entry.endsWith(".deb")))
    copyFileSync(join(archives, file), join(packages, file.replace(EPOCH, "_")));
}

/** Writes the index by which apt knows the packages of a directory. */
function writeIndex(directory: string): void {
  const files = readdirSync(directory).filter((file) => file.endsWith(".deb"));
  const entries = files.sort().map((file) => {
    const content = readFileSync(join(directory, file));
    const control = runTool("dpkg-deb", ["--field", join(directory, file)]).trimEnd();
    const sum = createHash("sha256").update(content).digest("hex");
    return `${control}\nFilename: ./${file}\nSize: ${content.length}\nSHA256: ${sum}\n`;
  });
  writeFileSync(join(directory, INDEX), entries.join("\n"));
}
