/** `npm run build`: bundles the program into `dist/` and notes which sources it is made from. */
import { spawn } from "node:child_process";
import { hashSources, markBuilt, markUnbuilt, ROOT } from "./built.mjs";

// Before the bundler reads them: what changes meanwhile makes its result stale.
const sources = hashSources();
markUnbuilt();
const bundler = spawn(process.execPath, ["--import", "tsx", "scripts/bundle.ts"], { cwd: ROOT, stdio: "inherit" });
bundler.once("exit", (code) => {
  if (code === 0) markBuilt(sources);
  process.exitCode = code ?? 1;
});
