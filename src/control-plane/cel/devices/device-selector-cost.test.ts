import { describe, expect, it } from "vitest";
import { estimateDeviceSelector } from "./device-selector.ts";

const ATTRIBUTES = 'device.attributes["dra.example.com"]';
const CAPACITY = 'device.capacity["dra.example.com"]';
const nested = (depth: number, body: string): string =>
  depth === 0 ? body : `[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x${depth}, ${nested(depth - 1, body)})`;

// The costs are those of upstream's own cases (`dynamic-resource-allocation/cel/compile_test.go`).
describe("estimateDeviceSelector", () => {
  it.each([
    ["true", 0],
    ['device.driver == ""', 2],
    ['device.driver == "dra.example.com"', 4],
    ["device.allowMultipleAllocations == true", 3],
    ['"no-such-domain" in device.attributes', 3],
    [`${ATTRIBUTES}.name`, 4],
    [`${ATTRIBUTES}["name"]`, 4],
    [`${ATTRIBUTES}.name > 0`, 5],
    [`${ATTRIBUTES}.name == "fish"`, 5],
    [`${ATTRIBUTES}.name.isGreaterThan(semver("0.0.1"))`, 6],
    [`${CAPACITY}.name.isGreaterThan(quantity("1Ki"))`, 6],
    [`"name" in ${CAPACITY} && ${CAPACITY}.name.isGreaterThan(quantity("1Ki"))`, 10],
    [`!("name" in ${CAPACITY}) || ${CAPACITY}.name.isGreaterThan(quantity("1Ki"))`, 11],
    [`${ATTRIBUTES}.a && ${ATTRIBUTES}.b && ${ATTRIBUTES}.c`, 12],
    ['device.attributes.exists_one(x, x == "dra.example.com")', 164],
    [`${ATTRIBUTES}.exists_one(x, x == "services")`, 133],
    ['device.capacity.exists_one(x, x == "dra.example.com")', 164],
    [`${CAPACITY}.exists_one(x, x == "memory")`, 133],
    [`${ATTRIBUTES}.services.split("example").size() >= 2`, 19],
    [`${ATTRIBUTES}.services.matches("[^a]?sym")`, 18],
  ])("of %s is upstream's", (text, cost) => {
    expect(estimateDeviceSelector(text)).toBe(cost);
  });

  it("is above the limit for loops in loops, and within it for a few", () => {
    expect(estimateDeviceSelector(nested(7, "true"))).toBeGreaterThan(1_000_000);
    expect(estimateDeviceSelector(nested(3, "true"))).toBeLessThan(1_000_000);
  });
});
