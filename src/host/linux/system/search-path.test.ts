import { expect, it } from "vitest";
import { computeSearchPath } from "./search-path.ts";

const SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

it.each([
  [undefined, SYSTEM],
  ["", SYSTEM],
  [SYSTEM, SYSTEM],
  ["/opt/bin:", `/opt/bin:${SYSTEM}`],
  ["/usr/local/bin:/usr/bin:/bin", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"],
  ["/opt/containerd/bin", `/opt/containerd/bin:${SYSTEM}`],
])("%j is searched first, and the system's directories then", (path, expected) => {
  expect(computeSearchPath(path)).toBe(expected);
});
