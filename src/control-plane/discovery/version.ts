import type { JsonObject } from "./api-table.ts";

/** The Kubernetes that clients are told they talk to; its minor decides what kubectl thinks of the version skew. */
export const KUBERNETES_VERSION = "v1.35.0";

interface BuildFacts {
  /** nodelet's own version, `0.1.0`; becomes build metadata, which clients ignore when they compare. */
  readonly version: string;
  readonly commit?: string;
  /** RFC 3339. */
  readonly date?: string;
  /** The platform in Go's form, `linux/amd64`. */
  readonly platform?: string;
}

/** `/version`. */
export function describeVersion({ version, commit = "", date, platform = "linux/amd64" }: BuildFacts): JsonObject {
  return {
    major: "1",
    minor: "35",
    emulationMajor: "1",
    emulationMinor: "35",
    minCompatibilityMajor: "1",
    minCompatibilityMinor: "34",
    gitVersion: `${KUBERNETES_VERSION}+nodelet.${version}`,
    gitCommit: commit,
    gitTreeState: commit === "" ? "archive" : "clean",
    buildDate: date ?? "1970-01-01T00:00:00Z",
    // Clients print these fields, which say that there is no Go here.
    goVersion: "none",
    compiler: "nodelet",
    platform,
  };
}
