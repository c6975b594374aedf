import { describe, expect, it } from "vitest";
import { resolvePlainScalar } from "./yaml-scalar.ts";

describe("resolvePlainScalar reads what go-yaml v2 reads", () => {
  it.each<[string, unknown]>([
    // Integers
    ["0", 0],
    ["420", 420],
    ["-7", -7],
    ["+5", 5],
    ["0644", 420],
    ["-0644", -420],
    ["0o17", 15],
    ["0O17", 15],
    ["0x1F", 31],
    ["0b101", 5],
    ["1_000", 1000],
    ["9007199254740993", 9007199254740993n],
    ["18446744073709551615", 18446744073709551615n],
    ["18446744073709551616", 18446744073709552000],
    // Floats
    ["1.5", 1.5],
    [".5", 0.5],
    ["5.", 5],
    ["1e3", 1000],
    ["1e-3", 0.001],
    ["09", 9],
    ["089.5", 89.5],
    ["1_000.5", 1000.5],
    [".inf", Number.POSITIVE_INFINITY],
    ["-.Inf", Number.NEGATIVE_INFINITY],
    [".nan", Number.NaN],
    // Booleans and null
    ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map(
      (word) => [word, true] satisfies [string, unknown],
    ),
    ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map(
      (word) => [word, false] satisfies [string, unknown],
    ),
    ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] satisfies [string, unknown]),
    // Strings that other YAML readers take for something else
    ["yEs", "yEs"],
    ["tRUE", "tRUE"],
    ["nULL", "nULL"],
    [".", "."],
    ["-", "-"],
    ["e5", "e5"],
    ["1e", "1e"],
    ["1.2.3", "1.2.3"],
    ["0x", "0x"],
    ["0o8", "0o8"],
    ["190:20:30", "190:20:30"],
    ["2001-12-14", "2001-12-14"],
    ["2001-12-14T21:59:43Z", "2001-12-14T21:59:43Z"],
    ["500m", "500m"],
    ["1Gi", "1Gi"],
    ["-.5Gi", "-.5Gi"],
    ["<<", "<<"],
    ["=", "="],
  ])("%j", (text, value) => {
    expect(resolvePlainScalar(text)).toEqual(value);
  });
});
