#!/usr/bin/env sh
":" //; exec env UV_THREADPOOL_SIZE=16 MALLOC_ARENA_MAX=2 node --max-semi-space-size=2 "$0" "$@"
/**
 * The command, as npm links it. `npx` makes that link once and keeps it, and only to a file that exists: a checkout whose
 * program is not built yet would lack the command for good. The shell's line is that of `dist/nodelet.js`.
 */
import { existsSync } from "node:fs";

const program = new URL("../dist/nodelet.js", import.meta.url);
if (existsSync(program)) {
  await import(program.href);
} else {
  process.stderr.write(
    "nodelet: this checkout has no program yet. `npm start` builds it and runs it; `npm ci && npm run build` builds it.\n",
  );
  process.exitCode = 1;
}
