import { KUBERNETES_VERSION } from "../../api/kubernetes-version.ts";
import type { JsonObject } from "./api-table.ts";

interface BuildFacts {
  /** nodelet's own version, `0.1.0`; becomes build metadata, which clients ignore when they compare. */
  readonly version: string;
  readonly commit?: string;
  /** RFC 3339. */
  readonly date?: string;
  /** The platform in Go's form, `linux/amd64`. */
  readonly platform?: string;
}

/** `/version`. The minor of the version decides what kubectl thinks of the skew between itself and the server. */
export function describeVersion({ version, commit = "", date, platform = "linux/amd64" }: BuildFacts): JsonObject {
  const [major = "", minor = ""] = KUBERNETES_VERSION.slice(1).split(".");
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Number(minor) - 1),
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
