/**
 * `npm run typecheck`: checks the types of all three programs: what runs on Node.js, the page, and the page's tests. By the
 * native compiler, which takes a third of the time; `typescript` itself is what `test/tidy` parses with.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./built.mjs";

const COMPILER = join(ROOT, "node_modules", "typescript-native", "bin", "tsc");
const PROJECTS = [".", "src/dashboard/page", "test/e2e/dashboard"];

const codes = PROJECTS.map((project) => {
  const args = [COMPILER, "--noEmit", "--project", project];
  return spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" }).status;
});
process.exitCode = codes.every((code) => code === 0) ? 0 : 1;
