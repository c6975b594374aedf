import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { RUN_TIME_FLAGS } from "../../src/cluster/processes/run-time.ts";
import type { Parts } from "./fetch-parts.ts";
import { ROOT } from "./places.ts";
import type { FileEntry } from "./program-tree.ts";
import { runTool } from "./run-tool.ts";

/** What the loader of Node.js looks for: a name, and a text whose last letter says whether there is anything. */
const BLOB = "NODE_SEA_BLOB";
const FUSE = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";

/** What runs the program from its directory; see `src/cli/executable/main.ts`. */
const START: FileEntry = {
  type: "file",
  path: "start.cjs",
  mode: 0o644,
  data: Buffer.from('import("./dist/nodelet.js");\n'),
};

interface ExecutableParts {
  /** Node.js for the machine that the executable is for. */
  readonly node: string;
  /** Those of this machine. */
  readonly own: Pick<Parts, "node" | "postject">;
  readonly tree: readonly FileEntry[];
}

/** Writes one file that is Node.js with the program in it (a single executable application, in Node.js' words). */
export async function buildExecutable(output: string, { node, own, tree }: ExecutableParts): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), "nodelet-executable-"));
  try {
    await build({
      bundle: true,
      entryPoints: [join(ROOT, "src/cli/executable/main.ts")],
      format: "cjs",
      outfile: join(work, "main.cjs"),
      platform: "node",
      target: "node24",
    });
    const files = [START, ...tree];
    // Paths of this machine would become a part of the result.
    const assets = Object.fromEntries(files.map(({ path }) => [path, join("files", path)]));
    for (const { path, data } of files) write(join(work, "files", path), data);
    write(join(work, "files.json"), JSON.stringify({ id: hashFiles(files), paths: files.map(({ path }) => path) }));
    const configuration = {
      main: "main.cjs",
      output: "program.blob",
      disableExperimentalSEAWarning: true,
      // They would be made by this machine's processor for itself.
      useSnapshot: false,
      useCodeCache: false,
      execArgv: RUN_TIME_FLAGS,
      assets: { ...assets, "files.json": "files.json" },
    };
    write(join(work, "sea.json"), JSON.stringify(configuration));
    runTool(own.node, ["--experimental-sea-config", "sea.json"], { cwd: work });
    const program = join(work, "nodelet");
    copyFileSync(node, program);
    chmodSync(program, 0o755);
    const blob = join(work, configuration.output);
    runTool(process.execPath, [own.postject, program, BLOB, blob, "--sentinel-fuse", FUSE]);
    copyFileSync(program, output);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function hashFiles(files: readonly FileEntry[]): string {
  const hash = createHash("sha256");
  for (const { path, data } of files) hash.update(`${path}\0${data.length}\0`).update(data);
  return hash.digest("hex").slice(0, 32);
}

function write(path: string, data: Buffer | string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, data);
}
