import { spawnSync } from "node:child_process";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const CHOSEN = process.env["NODELET_TEST_PROGRAM"];

/** What `npm run build` makes; `NODELET_TEST_PROGRAM` names another build of it. */
export const PROGRAM = CHOSEN ?? join(ROOT, "dist", "nodelet.js");

/** Builds the program unless it is what the sources say. */
export function buildProgram(): void {
  if (CHOSEN !== undefined) return;
  const built = spawnSync(process.execPath, [join(ROOT, "scripts", "build-if-stale.mjs")], { encoding: "utf8" });
  if (built.status !== 0) throw new Error(`the program cannot be built: ${built.stdout}${built.stderr}`);
}
