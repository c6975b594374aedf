import { expect, it } from "vitest";
import { computeMemorySize } from "./memory-size.ts";

const limited = (memory: string) => ({ name: "c", resources: { limits: { memory } } });

// pkg/volume/emptydir/empty_dir.go, calculateEmptyDirMemorySize.
it.each([
  ["nothing set", [{ name: "c" }], {}, undefined],
  ["the node's", [{ name: "c" }], { allocatable: "8Gi" }, 8n * 1024n ** 3n],
  ["the pod's", [limited("1Mi"), limited("2Mi")], { allocatable: "8Gi" }, 3n * 1024n ** 2n],
  ["no limit of the pod where one container has none", [limited("1Mi"), { name: "d" }], {}, undefined],
  ["no limit of the pod where one is zero", [limited("1Mi"), limited("0")], {}, undefined],
  ["the volume's", [limited("4Mi")], { sizeLimit: "1Mi", allocatable: "8Gi" }, 1024n ** 2n],
  ["the pod's below the volume's", [limited("1Mi")], { sizeLimit: "2Mi" }, 1024n ** 2n],
  ["zero is none", [{ name: "c" }], { sizeLimit: "0", allocatable: "1Mi" }, 1024n ** 2n],
])("%s", (_case, containers, bounds, size) => {
  expect(computeMemorySize({ spec: { containers } }, bounds)).toBe(size);
});

it("a limit of the pod as a whole counts without those of its containers", () => {
  const spec = { containers: [{ name: "c" }], resources: { limits: { memory: "1Mi" } } };
  expect(computeMemorySize({ spec }, { allocatable: "8Gi" })).toBe(1024n ** 2n);
});
