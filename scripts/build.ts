/**
 * Bundles the program into `dist/`: `nodelet.js` with the commands and the node agent, `control-plane.js`, which it loads
 * when it is to serve the API, and `testing.js`, which is `nodelet/testing` and loads `testing-node.js` when a test wants a
 * node. Run with `npm run build`.
 */
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type BuildOptions, build, type Plugin } from "esbuild";
import ts from "typescript";

const version = /"version": "([^"]+)"/.exec(readFileSync("package.json", "utf8"))?.[1];

/** Only whoever needs their code loads it: the node agent runs for months, and most tests want no node. */
const apart: Plugin = {
  name: "apart",
  setup({ onResolve }) {
    const keep = (filter: RegExp, path: string) =>
      onResolve({ filter }, ({ kind }) => (kind === "entry-point" ? undefined : { path, external: true }));
    keep(/\/run-control-plane\.ts$/, "./control-plane.js");
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
  metafile: true,
  define: { NODELET_VERSION: JSON.stringify(version) },
  plugins: [apart],
  // Their native parts no bundle can hold.
  external: ["koffi", "libsql"],
};

// CommonJS packages in the bundle call `require` for Node.js' own modules.
const REQUIRE = 'import { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);';

/** Built beside and moved over: whoever starts it meanwhile finds the old program or the new one. */
async function bundle(source: string, name: string, banner: string): Promise<void> {
  const output = `dist/${name}.js`;
  const next = `dist/${name}.next.js`;
  const result = await build({ ...common, entryPoints: [source], outfile: next, banner: { js: banner } });
  rmSync(`${output}.map`, { force: true });
  renameSync(`${next}.map`, `${output}.map`);
  renameSync(`${next}.LEGAL.txt`, `${output}.LEGAL.txt`);
  chmodSync(next, 0o755);
  renameSync(next, output);
  const bytes = result.metafile?.outputs[next]?.bytes ?? 0;
  console.log(`${output} (${Math.round(bytes / 1024)} KiB)`);
}

await bundle("src/cluster/control-plane/run-control-plane.ts", "control-plane", REQUIRE);
await bundle("src/testing/start-cluster.ts", "testing", REQUIRE);
await bundle("src/testing/start-node.ts", "testing-node", REQUIRE);
await bundle(
  "src/cli/entry.ts",
  "nodelet",
  `#!/usr/bin/env -S UV_THREADPOOL_SIZE=16 node --max-semi-space-size=2\n${REQUIRE}`,
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
