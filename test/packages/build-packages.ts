import { runTool } from "../../scripts/packages/run-tool.ts";

/** Where the suite's packages are: those of this machine, made before its first test. */
export const OUTPUT = "dist/packages";

/** Makes the packages of this machine, as `npm run package` does, into a directory. */
export function buildPackages(output: string, environment: Readonly<Record<string, string>> = {}): void {
  const only = process.arch === "arm64" ? "arm64" : "amd64";
  runTool("npx", ["tsx", "scripts/packages/main.ts", "--only", only, "--output", output], { environment });
}

/** Called by vitest before the suite. */
export function setup(): void {
  buildPackages(OUTPUT);
}
