import { expect, it } from "vitest";
import { requirePathName } from "./runtime-answers.ts";

it("takes an ID that can be the name of a file, and tells of one that leads elsewhere", () => {
  expect(requirePathName("a container", "0a1b2c")).toBe("0a1b2c");
  for (const id of ["", "..", "a/../../b", "x".repeat(100_000)]) {
    const attempt = () => requirePathName("a container", id);
    expect(attempt).toThrow(expect.objectContaining({ code: "contradiction" }));
    expect(attempt).toThrow(/^the runtime made a container whose ID cannot be a name: .{0,9000}$/);
  }
});
