/**
 * Bundles the program into `dist/`: `nodelet.js`, which reads the command line, `node-commands.js` with the node agent and
 * all else that has to do with a node, `control-plane.js` and `dns.js`, of which it loads what the command needs; and `testing.js`,
 * which is `nodelet/testing` and loads `testing-node.js` when a test wants a node. The last two share the API server. Beside them
 * lie the manual, `nodelet.1`, the schema of `nodelet up --config`, and in `page/` the page of `nodelet dashboard`, which runs in browsers.
 * Run with `npm run build`.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { type BuildOptions, build, type Metafile, type OutputFile, type Plugin } from "esbuild";
import ts from "typescript";
import { createProgram } from "../src/cli/main.ts";
import { writeManual } from "../src/cli/manual/write-manual.ts";
import { computeUpSchema, UP_SCHEMA_FILE } from "../src/cli/up/up-schema.ts";
import { RUN_TIME_ENVIRONMENT, RUN_TIME_FLAGS } from "../src/cluster/processes/run-time.ts";

const version = /"version": "([^"]+)"/.exec(readFileSync("package.json", "utf8"))?.[1];

/** Each part is loaded only where it is needed: the node agent runs for months, and most tests want no node. */
const apart: Plugin = {
  name: "apart",
  setup({ onResolve }) {
    const keep = (filter: RegExp, path: string) =>
      onResolve({ filter }, ({ kind }) => (kind === "entry-point" ? undefined : { path, external: true }));
    keep(/\/run-control-plane\.ts$/, "./control-plane.js");
    keep(/\/node-commands\.ts$/, "./node-commands.js");
    keep(/\/serve-dns\.ts$/, "./dns.js");
    keep(/\/start-node\.ts$/, "./testing-node.js");
  },
};

const common: BuildOptions = {
  bundle: true,
  platform: "node",
  // A package that is loaded lazily and is in the form of CommonJS would lose the names of its exports.
  mainFields: ["module", "main"],
  target: "node20.19",
  format: "esm",
  sourcemap: "external",
  legalComments: "external",
  // V8 keeps the text as long as the program runs. Names stay, for stack traces and profiles.
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120,
  define: { NODELET_VERSION: JSON.stringify(version) },
  plugins: [apart],
  // Their native parts no bundle can hold; and of a bundle V8 keeps what only a node behind a SOCKS proxy needs.
  external: ["koffi", "libsql", "socks"],
};

// CommonJS packages in the bundle call `require` for Node.js' own modules.
const REQUIRE = 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);';

/**
 * Builds beside the old files and moves the new ones over them: a start meanwhile finds the old program or the new one.
 * What several entry points share becomes a file of its own, whose name tells its content.
 */
async function bundle(entryPoints: Readonly<Record<string, string>>, banner: string): Promise<void> {
  const { outputFiles, metafile } = await build({
    ...common,
    entryPoints,
    outdir: "dist",
    splitting: true,
    chunkNames: "shared-[hash]",
    banner: { js: banner },
    metafile: true,
    write: false,
  });
  notePackages(metafile);
  for (const { path, contents } of outputFiles) {
    if (path.endsWith(".js")) refuseWideText(relative(".", path), Buffer.from(contents).toString("latin1"));
  }
  writeOutputs(outputFiles);
}

/** Writes files in an order in which what is imported comes before what imports it. */
function writeOutputs(outputs: ReadonlyArray<Pick<OutputFile, "path" | "contents">>): void {
  const isImported = (path: string) => /-[A-Z0-9]{8}\.(js|css)$/.test(path);
  for (const { path, contents } of outputs.toSorted(
    (a, b) => Number(isImported(b.path)) - Number(isImported(a.path)),
  )) {
    const output = relative(".", path);
    const mode = output === "dist/nodelet.js" ? 0o755 : 0o644;
    writeFileSync(`${output}.next`, contents, { mode });
    renameSync(`${output}.next`, output);
    written.add(output);
    if (output.endsWith(".js")) console.log(`${output} (${Math.round(contents.byteLength / 1024)} KiB)`);
  }
}

/** Notes which packages have code in what was made, by their directories. */
function notePackages({ outputs }: Metafile): void {
  for (const { inputs } of Object.values(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const directory = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
      if (directory !== undefined && bytesInOutput > 0) bundled.add(directory);
    }
  }
}

/** The packages that are part of the page; their licences lie beside it. */
const PAGE_PACKAGES = ["preact", "uplot", "@xterm/xterm"];

/** Bundles the page with everything that it needs: browsers get nothing from elsewhere. */
async function bundlePage(): Promise<void> {
  const { outputFiles, metafile } = await build({
    bundle: true,
    entryPoints: { main: "src/dashboard/page/main.tsx" },
    outdir: "dist/page",
    splitting: true,
    chunkNames: "[name]-[hash]",
    format: "esm",
    platform: "browser",
    target: ["chrome122", "firefox125", "safari17.4"],
    minify: true,
    legalComments: "external",
    metafile: true,
    write: false,
  });
  notePackages(metafile);
  const licences = PAGE_PACKAGES.map((name) => `${name}\n\n${readFileSync(`node_modules/${name}/LICENSE`, "utf8")}`);
  const page = resolve("dist/page");
  writeOutputs([
    ...outputFiles,
    ...["index.html", "icon.svg"].map((name) => {
      return { path: `${page}/${name}`, contents: readFileSync(`src/dashboard/page/${name}`) };
    }),
    { path: `${page}/LICENSES.txt`, contents: Buffer.from(licences.join("\n\n")) },
  ]);
}

/** Removes what an earlier build has left. */
function removeOldOutputs(): void {
  const names = readdirSync("dist", { recursive: true, encoding: "utf8" });
  const isOutput = (name: string) => /\.(js|js\.map|css|html|svg|txt)$/.test(name) && !name.startsWith("packages/");
  const outputs = names.filter(isOutput);
  for (const name of outputs) if (!written.has(`dist/${name}`)) rmSync(`dist/${name}`);
}

/**
 * V8 keeps the text of a program as long as it runs, and one wide character makes all of it twice as large. esbuild
 * escapes such characters everywhere but in regular expressions.
 */
function refuseWideText(name: string, text: string): void {
  const wide = /[^\0-\x7f]/.exec(text);
  if (wide === null) return;
  throw new Error(`${name} has a character that must be escaped: ${text.slice(wide.index - 60, wide.index + 20)}`);
}

const environment = Object.entries(RUN_TIME_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);

const written = new Set<string>();
const bundled = new Set<string>();
mkdirSync("dist/page", { recursive: true });
await bundle(
  { "control-plane": "src/cluster/control-plane/run-control-plane.ts", testing: "src/testing/start-cluster.ts" },
  REQUIRE,
);
await bundle({ dns: "src/cli/serve-dns.ts" }, REQUIRE);
await bundle({ "node-commands": "src/cli/node-commands.ts" }, REQUIRE);
await bundle({ "testing-node": "src/testing/start-node.ts" }, REQUIRE);
// The shell runs the second line and reads no further; to Node.js it is a text and a comment. `env -S`, which could say
// the same in the first line, is not in BusyBox.
const start = `exec env ${environment.join(" ")} node ${RUN_TIME_FLAGS.join(" ")} "$0" "$@"`;
await bundle({ nodelet: "src/cli/entry.ts" }, `#!/usr/bin/env sh\n":" //; ${start}\n${REQUIRE}`);
await bundlePage();
removeOldOutputs();

// What it exports mentions no type of another file, so that its declarations stand alone.
const testing = readFileSync("src/testing/start-cluster.ts", "utf8");
const { outputText, diagnostics = [] } = ts.transpileDeclaration(testing, {
  compilerOptions: {},
  reportDiagnostics: true,
});
const [problem] = diagnostics;
if (problem) throw new Error(`testing.d.ts: ${ts.flattenDiagnosticMessageText(problem.messageText, " ")}`);
writeFileSync("dist/testing.d.ts", outputText);

const program = createProgram({ argv: [], entry: "", version: version ?? "" }, async (code) => void (await code));
writeFileSync(`dist/${UP_SCHEMA_FILE}`, `${JSON.stringify(computeUpSchema(), undefined, 2)}\n`);
writeFileSync("dist/nodelet.1", writeManual(program, version ?? ""));
writeFileSync("dist/bundled.json", JSON.stringify([...bundled].sort()));
