import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./places.ts";
import { runTool } from "./run-tool.ts";
import type { Target } from "./target.ts";

/** What is kept from run to run. */
export const CACHE = join(ROOT, "node_modules/.cache/nodelet-packages");
const RUNTIME = join(import.meta.dirname, "runtime");
const LOCKED = ["package.json", "package-lock.json"];

/** What comes from the registry, for one kind of machine. */
export interface Parts {
  /** The program Node.js without its symbols, which nothing but a debugger reads. */
  readonly node: string;
  /** The text of Node.js' licence, with those of all that it contains. */
  readonly nodeLicence: string;
  readonly nodeVersion: string;
  /** The program that puts a section into an executable. */
  readonly postject: string;
  /** The directory `node_modules` of what nodelet needs at run time. */
  readonly modules: string;
}

/** Gets the parts as the lock files have them, each checked against its hash there. They are kept until those change. */
export function fetchParts(target: Target): Parts {
  const runtime = install(RUNTIME, target, []);
  const modules = install(ROOT, target, ["--omit=dev", "--libc=glibc"]);
  const name = `node-linux-${target.node}`;
  const brought = join(runtime, "node_modules", name);
  const node = join(runtime, "node");
  if (!existsSync(node)) {
    runTool(`${target.gnu}-strip`, ["--strip-unneeded", "-o", `${node}.new`, join(brought, "bin/node")]);
    renameSync(`${node}.new`, node);
  }
  return {
    node,
    nodeLicence: readFileSync(join(brought, "LICENSE"), "utf8"),
    nodeVersion: readVersion(join(brought, "package.json")),
    postject: join(runtime, "node_modules/postject/dist/cli.js"),
    modules: join(modules, "node_modules"),
  };
}

function readVersion(path: string): string {
  const { version }: { version?: string } = JSON.parse(readFileSync(path, "utf8"));
  if (version === undefined) throw new Error(`${path} has no version`);
  return version;
}

/** Installs what a directory's lock file says, in a directory of the cache. */
function install(from: string, { node }: Target, options: readonly string[]): string {
  const hash = createHash("sha256").update(options.join(" "));
  for (const name of LOCKED) hash.update(readFileSync(join(from, name)));
  const place = join(CACHE, `${node}-${hash.digest("hex").slice(0, 12)}`);
  if (existsSync(place)) return place;
  rmSync(`${place}.new`, { recursive: true, force: true });
  mkdirSync(`${place}.new`, { recursive: true });
  for (const name of LOCKED) copyFileSync(join(from, name), join(`${place}.new`, name));
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  runTool("npm", ["ci", ...quiet, "--os=linux", `--cpu=${node}`, ...options], { cwd: `${place}.new` });
  renameSync(`${place}.new`, place);
  return place;
}
