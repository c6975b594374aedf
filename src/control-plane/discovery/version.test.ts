import { expect, test } from "vitest";
import { describeVersion } from "./version.ts";

test("the version is that of a Kubernetes 1.36, as far as clients compare it", () => {
  const { major, minor, gitVersion, platform } = describeVersion({ version: "0.1.0", platform: "linux/arm64" });
  expect([major, minor, platform]).toEqual(["1", "36", "linux/arm64"]);
  // Semantic versioning, in which what follows the plus does not count.
  expect(gitVersion).toMatch(/^v1\.36\.\d+\+[0-9A-Za-z.-]+$/);
});
