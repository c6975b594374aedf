import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { ImageEntry } from "../../../src/cluster/images/image-archive.ts";
import { CACHE } from "../fetch-parts.ts";
import { runTool } from "../run-tool.ts";
import type { Target } from "../target.ts";

const RELEASE = "bookworm";
const MIRROR = "http://deb.debian.org/debian";
const PACKAGES = ["libc6", "libgcc-s1", "libstdc++6"];
/** What Node.js and the native modules are linked to, and what the C library loads for names of hosts and users. */
const LIBRARIES = /^(ld-linux-[\w-]+|lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\+\+|nss_dns|nss_files))\.so\.\d+$/;

/** A package of Debian that files of the image come from. */
export interface LibraryPackage {
  readonly name: string;
  readonly version: string;
}

/** The C and C++ libraries for an image, with their licences, and where they come from. */
export interface Libraries {
  readonly entries: readonly ImageEntry[];
  readonly packages: readonly LibraryPackage[];
}

/** Gets the libraries from Debian. They are kept from run to run; `npm ci` removes them with the other modules. */
export function fetchLibraries({ debian, gnu }: Target): Libraries {
  const recipe = createHash("sha256")
    .update([RELEASE, debian, ...PACKAGES].join(" "))
    .digest("hex");
  const tree = join(CACHE, `libraries-${debian}-${recipe.slice(0, 12)}`);
  if (!existsSync(tree)) {
    rmSync(`${tree}.new`, { recursive: true, force: true });
    mkdirSync(CACHE, { recursive: true });
    const options = ["--variant=extract", `--architectures=${debian}`, `--include=${PACKAGES.join(",")}`];
    runTool("mmdebstrap", ["--quiet", ...options, RELEASE, `${tree}.new`, MIRROR]);
    renameSync(`${tree}.new`, tree);
  }
  const directory = `lib/${gnu}`;
  const names = readdirSync(join(tree, directory)).filter((name) => LIBRARIES.test(name));
  const usr = readdirSync(join(tree, "usr", directory)).filter((name) => LIBRARIES.test(name) && !names.includes(name));
  const found = [...names.map((name) => `${directory}/${name}`), ...usr.map((name) => `usr/${directory}/${name}`)];
  const packages = PACKAGES.map((name) => ({ name, version: readVersion(tree, name) }));
  return {
    entries: [
      // Programs name their loader by this path.
      ...loaderLinks(tree, gnu),
      ...found.sort().map((path): ImageEntry => {
        return {
          type: "file",
          path: `lib/${gnu}/${path.split("/").at(-1)}`,
          mode: 0o755,
          data: readFileSync(realpathSync(join(tree, path))),
        };
      }),
      ...packages.flatMap(({ name }) => copyright(tree, name)),
    ],
    packages,
  };
}

/** The links of the libraries' directory in which the loader is named. */
function loaderLinks(tree: string, gnu: string): ImageEntry[] {
  for (const place of ["lib64", "lib"]) {
    const name = existsSync(join(tree, place))
      ? readdirSync(join(tree, place)).find((file) => file.startsWith("ld-linux"))
      : undefined;
    if (name !== undefined)
      return [
        { type: "symlink", path: `${place}/${name}`, target: `${place === "lib" ? "" : "../lib/"}${gnu}/${name}` },
      ];
  }
  throw new Error(`the libraries of Debian have no loader in ${tree}`);
}

function copyright(tree: string, name: string): ImageEntry[] {
  const path = `usr/share/doc/${name}/copyright`;
  const source = join(tree, path);
  return existsSync(source) ? [{ type: "file", path, mode: 0o644, data: readFileSync(source) }] : [];
}

/** Reads the first line of the package's changelog: its version stands there. */
function readVersion(tree: string, name: string): string {
  const path = join(tree, "usr/share/doc", name, "changelog.Debian.gz");
  const version = /^\S+ \((\S+)\)/.exec(gunzipSync(readFileSync(path)).toString("utf8"))?.[1];
  if (version === undefined) throw new Error(`${path} tells no version`);
  return version;
}
