import { expect, it } from "vitest";
import type { Pod } from "../../../../api/gen/types.ts";
import { computeHugepageSize, isHugepageMedium } from "./hugepage-size.ts";

const MI = 1024n ** 2n;
const podOf = (...requests: Array<Record<string, string>>): Pod => ({
  spec: { containers: requests.map((request, index) => ({ name: `c${index}`, resources: { requests: request } })) },
});

// pkg/volume/emptydir/empty_dir.go, getPageSizeMountOption.
it.each<[string, string, Pod, { pageSizeBytes: bigint; sizeBytes: bigint }]>([
  [
    "the only size that is asked for",
    "HugePages",
    podOf({ "hugepages-2Mi": "100Mi" }),
    { pageSizeBytes: 2n * MI, sizeBytes: 100n * MI },
  ],
  [
    "the size of all containers together",
    "HugePages",
    podOf({ "hugepages-2Mi": "100Mi", cpu: "1" }, { "hugepages-2Mi": "50Mi" }),
    { pageSizeBytes: 2n * MI, sizeBytes: 150n * MI },
  ],
  [
    "the size that the medium names, of several",
    "HugePages-1Gi",
    podOf({ "hugepages-2Mi": "100Mi", "hugepages-1Gi": "2Gi" }),
    { pageSizeBytes: 1024n * MI, sizeBytes: 2048n * MI },
  ],
  [
    "a size that is written in another way",
    "HugePages-2048Ki",
    podOf({ "hugepages-2Mi": "100Mi" }),
    { pageSizeBytes: 2n * MI, sizeBytes: 100n * MI },
  ],
  [
    "what init containers ask for",
    "HugePages",
    { spec: { containers: [], initContainers: [{ name: "i", resources: { requests: { "hugepages-2Mi": "4Mi" } } }] } },
    { pageSizeBytes: 2n * MI, sizeBytes: 4n * MI },
  ],
  [
    "what the pod asks for as a whole",
    "HugePages",
    { spec: { containers: [], resources: { requests: { "hugepages-2Mi": "8Mi" } } } },
    { pageSizeBytes: 2n * MI, sizeBytes: 8n * MI },
  ],
])("%s", (_case, medium, pod, expected) => {
  expect(computeHugepageSize(pod, medium)).toEqual(expected);
});

it.each<[string, string, Pod, string]>([
  [
    "several sizes",
    "HugePages",
    podOf({ "hugepages-2Mi": "2Mi" }, { "hugepages-1Gi": "1Gi" }),
    "medium: HugePages can't be used if container requests multiple huge page sizes",
  ],
  [
    "no request",
    "HugePages",
    podOf({ memory: "1Gi" }),
    "medium HugePages: hugePages storage requested, but there is no resource request for huge pages",
  ],
  [
    "no request of that size",
    "HugePages-1Gi",
    podOf({ "hugepages-2Mi": "2Mi" }),
    "medium HugePages-1Gi: hugePages storage requested, but there is no resource request for huge pages",
  ],
  ["no size", "HugePages-big", podOf({ "hugepages-2Mi": "2Mi" }), 'HugePages-big: "big" is no size of huge pages'],
])("is refused for %s", (_case, medium, pod, message) => {
  expect(() => computeHugepageSize(pod, medium)).toThrow(message);
});

it.each([
  ["HugePages", true],
  ["HugePages-2Mi", true],
  ["Memory", false],
  ["", false],
  ["hugepages", false],
])("the medium '%s' is of huge pages: %s", (medium, expected) => {
  expect(isHugepageMedium(medium)).toBe(expected);
});
