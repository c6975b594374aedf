/**
 * Bundles the program into `dist/`: `nodelet.js`, which reads the command line, `node-commands.js` with the node agent and
 * all else that has to do with a node, and `control-plane.js`, of which it loads what the command needs; and `testing.js`,
 * which is `nodelet/testing` and loads `testing-node.js` when a test wants a node. Run with `npm run build`.
 */
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type BuildOptions, build, type Plugin } from "esbuild";
import ts from "typescript";
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
    keep(/\/start-node\.ts$/, "./testing-node.js");
  },
};

const common: BuildOptions = {
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  sourcemap: "external",
  legalComments: "external",
  // V8 keeps the text as long as the program runs. Names stay, for stack traces and profiles.
  minifyWhitespace: true,
  lineLimit: 120,
  metafile: true,
  define: { NODELET_VERSION: JSON.stringify(version) },
  plugins: [apart],
  // Their native parts no bundle can hold; and of a bundle V8 keeps what only a node behind a SOCKS proxy needs.
  external: ["koffi", "libsql", "socks"],
};

// CommonJS packages in the bundle call `require` for Node.js' own modules.
const REQUIRE = 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);';

/** Builds beside the old file and moves the new one over it: a start meanwhile finds the old program or the new one. */
async function bundle(source: string, name: string, banner: string): Promise<void> {
  const output = `dist/${name}.js`;
  const next = `dist/${name}.next.js`;
  const result = await build({ ...common, entryPoints: [source], outfile: next, banner: { js: banner } });
  refuseWideText(name, readFileSync(next, "latin1"));
  rmSync(`${output}.map`, { force: true });
  renameSync(`${next}.map`, `${output}.map`);
  rmSync(`${output}.LEGAL.txt`, { force: true });
  // There is none where nothing of others is in it.
  if (existsSync(`${next}.LEGAL.txt`)) renameSync(`${next}.LEGAL.txt`, `${output}.LEGAL.txt`);
  chmodSync(next, 0o755);
  renameSync(next, output);
  const bytes = result.metafile?.outputs[next]?.bytes ?? 0;
  console.log(`${output} (${Math.round(bytes / 1024)} KiB)`);
}

/**
 * V8 keeps the text of a program as long as it runs, and one wide character makes all of it twice as large. esbuild
 * escapes such characters everywhere but in regular expressions.
 */
function refuseWideText(name: string, text: string): void {
  const wide = /[^\0-\x7f]/.exec(text);
  if (wide === null) return;
  throw new Error(`${name}.js has a character that must be escaped: ${text.slice(wide.index - 60, wide.index + 20)}`);
}

const environment = Object.entries(RUN_TIME_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);

await bundle("src/cluster/control-plane/run-control-plane.ts", "control-plane", REQUIRE);
await bundle("src/cli/node-commands.ts", "node-commands", REQUIRE);
await bundle("src/testing/start-cluster.ts", "testing", REQUIRE);
await bundle("src/testing/start-node.ts", "testing-node", REQUIRE);
await bundle(
  "src/cli/entry.ts",
  "nodelet",
  `#!/usr/bin/env -S ${environment.join(" ")} node ${RUN_TIME_FLAGS.join(" ")}\n${REQUIRE}`,
);

// What it exports mentions no type of another file, so that its declarations stand alone.
const testing = readFileSync("src/testing/start-cluster.ts", "utf8");
const { outputText, diagnostics = [] } = ts.transpileDeclaration(testing, {
  compilerOptions: {},
  reportDiagnostics: true,
});
const [problem] = diagnostics;
if (problem) throw new Error(`testing.d.ts: ${ts.flattenDiagnosticMessageText(problem.messageText, " ")}`);
writeFileSync("dist/testing.d.ts", outputText);
