import { describe, expect, it } from "vitest";
import { parseCounts } from "./file-calls.ts";

const TABLE = `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ------------------
 61.05    0.000210          10        21         3 openat
 38.95    0.000134          11        12           statx
  0.00    0.000000           0         1           getdents64
------ ----------- ----------- --------- --------- ------------------
100.00    0.000344          10        34         3 total
`;

describe("parseCounts", () => {
  it("reads the calls of each name, with and without errors, and leaves the sum out", () => {
    expect([...parseCounts(TABLE)]).toEqual([
      ["openat", 21],
      ["statx", 12],
      ["getdents64", 1],
    ]);
  });

  it("finds nothing where nothing was called", () => {
    expect([...parseCounts("")]).toEqual([]);
  });
});
