import { runTool } from "../../scripts/packages/run-tool.ts";

/** Where the suite's packages are: those of this machine, made before its first test. */
export const OUTPUT = "dist/packages";

/** The release of Debian that the suite's offline bundle is for. */
export const OFFLINE_RELEASE = "bookworm";

/** Makes the packages of this machine, as `npm run package` does, into a directory. */
export function buildPackages(output: string, environment: Readonly<Record<string, string>> = {}): void {
  const only = process.arch === "arm64" ? "arm64" : "amd64";
  const choices = ["--only", only, "--offline", OFFLINE_RELEASE, "--output", output];
  runTool("npx", ["tsx", "scripts/packages/main.ts", ...choices], { environment });
}

/** Called by vitest before the suite. */
export function setup(): void {
  buildPackages(OUTPUT);
}
