import { expect, it } from "vitest";
import { isGivenWhole, readUmask } from "./given-whole.ts";

it.each([
  ["Name:\tnode\nUmask:\t0022\nState:\tR\n", 0o022],
  ["Umask:\t0000\n", 0],
  ["Umask:\t0077\n", 0o077],
  // A kernel that does not tell: every mode is set.
  ["Name:\tnode\n", 0o777],
  [undefined, 0o777],
])("reads the umask of %j", (status, umask) => {
  expect(readUmask(status)).toBe(umask);
});

it("never takes a mode for given that has more than rights", () => {
  expect(isGivenWhole(0o1000)).toBe(false);
  expect(isGivenWhole(0)).toBe(true);
});
