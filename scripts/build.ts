/** Bundles the program into `dist/nodelet.js`, one ESM file that needs nothing but Node.js. Run with `npm run build`. */
import { chmodSync, readFileSync, renameSync, rmSync } from "node:fs";
import { build } from "esbuild";

const OUTPUT = "dist/nodelet.js";
const version = /"version": "([^"]+)"/.exec(readFileSync("package.json", "utf8"))?.[1];

// Built beside and moved over: a node agent that is started meanwhile finds the old program or the new one.
const next = "dist/nodelet.next.js";
const result = await build({
  entryPoints: ["src/cli/entry.ts"],
  outfile: next,
  bundle: true,
  platform: "node",
  target: "node20.19",
  format: "esm",
  sourcemap: "external",
  legalComments: "external",
  metafile: true,
  define: { NODELET_VERSION: JSON.stringify(version) },
  banner: {
    js: [
      "#!/usr/bin/env -S node --max-semi-space-size=2",
      // CommonJS packages in the bundle call `require` for Node.js' own modules.
      'import { createRequire } from "node:module";',
      "const require = createRequire(import.meta.url);",
    ].join("\n"),
  },
});
rmSync("dist/nodelet.js.map", { force: true });
renameSync(`${next}.map`, `${OUTPUT}.map`);
renameSync(`${next}.LEGAL.txt`, `${OUTPUT}.LEGAL.txt`);
chmodSync(next, 0o755);
renameSync(next, OUTPUT);
const bytes = result.metafile.outputs[next]?.bytes ?? 0;
console.log(`${OUTPUT} (${Math.round(bytes / 1024)} KiB)`);
