import { expect, it } from "vitest";
import { compareVersions, findHighestSupportedVersion, formatVersion } from "./csi-version.ts";

const highest = (versions: readonly string[]): string => {
  const found = findHighestSupportedVersion(versions);
  return "error" in found ? found.error : formatVersion(found.version);
};

it.each<[versions: string[], outcome: string]>([
  [["1.0.0"], "1.0.0"],
  [["v1.2"], "1.2"],
  [["1.0.0", "1.10.0", "1.9.0"], "1.10.0"],
  [["0.3.0", "1.0.0"], "1.0.0"],
  [["2.0.0", "1.1.0"], "1.1.0"],
  [["nonsense", "1.0.0-rc1"], "1.0.0"],
  [["  1.3.0\n"], "1.3.0"],
  [["0.3.0"], "highest supported version reported is 0.3.0, must be v1.x"],
  [["2.0.0"], "could not find a highest supported version from versions ([2.0.0]) reported: <nil>"],
  [
    ["a", "b"],
    'could not find a highest supported version from versions ([a b]) reported: could not parse "a" as version',
  ],
  [["1"], 'could not find a highest supported version from versions ([1]) reported: illegal version string "1"'],
  [
    ["01.0"],
    'could not find a highest supported version from versions ([01.0]) reported: illegal zero-prefixed version component "01" in "01.0"',
  ],
])("of %j the highest supported version is %s", (versions, outcome) => {
  expect(highest(versions)).toBe(outcome);
});

it.each<[a: number[], b: number[], sign: number]>([
  [[1, 0], [1, 0, 0], 0],
  [[1, 2], [1, 10], -1],
  [[1, 2, 1], [1, 2], 1],
])("%j against %j is %i", (a, b, sign) => {
  expect(Math.sign(compareVersions(a, b))).toBe(sign);
});
