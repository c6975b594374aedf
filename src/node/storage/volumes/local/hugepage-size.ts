import type { Pod } from "../../../../api/gen/types.ts";
import { parseQuantity, quantityValue } from "../../../../api/quantity.ts";
import { computePodRequests } from "../../../../api/resources.ts";
import { VolumeSetUpError } from "../volume-error.ts";

/** The size of a file system of huge pages. */
interface HugepageSize {
  readonly pageSizeBytes: bigint;
  /** The bytes of such pages that the pod requests; its cgroup would not let it have more. */
  readonly sizeBytes: bigint | undefined;
}

const MEDIUM = "HugePages";
const MEDIUM_PREFIX = `${MEDIUM}-`;
const RESOURCE_PREFIX = "hugepages-";

/** True for `HugePages`, and with a page size: `HugePages-2Mi`. */
export function isHugepageMedium(medium: string): boolean {
  return medium === MEDIUM || medium.startsWith(MEDIUM_PREFIX);
}

/**
 * The size of pages that the medium names, or the only one that the pod asks for, as `getPageSizeMountOption` of
 * pkg/volume/emptydir finds it. Throws, in its words, where the pod asks for none of them, or for several.
 */
export function computeHugepageSize(pod: Pod, medium: string): HugepageSize {
  const named = medium === MEDIUM ? undefined : sizeOf(medium, MEDIUM_PREFIX);
  const requested = new Set(requestNames(pod).map((name) => sizeOf(name, RESOURCE_PREFIX)));
  if (named === undefined && requested.size > 1) {
    throw new VolumeSetUpError(
      "invalid",
      `medium: ${medium} can't be used if container requests multiple huge page sizes`,
    );
  }
  const [only] = requested;
  const pageSizeBytes = named ?? only;
  if (pageSizeBytes === undefined || !requested.has(pageSizeBytes)) {
    throw new VolumeSetUpError(
      "invalid",
      `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages`,
    );
  }
  return { pageSizeBytes, sizeBytes: requestedBytes(pod, pageSizeBytes) };
}

/** The names of the pod's huge page requests. Limits need no look, because for huge pages they must equal the requests. */
function requestNames({ spec }: Pod): string[] {
  const { resources, containers = [], initContainers = [] } = spec ?? {};
  const lists = [resources, ...[...containers, ...initContainers].map((container) => container.resources)];
  const names = lists.flatMap((list) => Object.keys(list?.requests ?? {}));
  return names.filter((name) => name.startsWith(RESOURCE_PREFIX));
}

function requestedBytes(pod: Pod, pageSizeBytes: bigint): bigint | undefined {
  const amounts = Object.entries(computePodRequests(pod)).flatMap(([name, amount]) => {
    const isOfSize = name.startsWith(RESOURCE_PREFIX) && sizeOf(name, RESOURCE_PREFIX) === pageSizeBytes;
    return isOfSize ? [quantityValue(amount)] : [];
  });
  const sum = amounts.reduce((total, amount) => total + amount, 0n);
  // 0 would mean no bound at all to the kernel.
  return sum > 0n ? sum : undefined;
}

function sizeOf(name: string, prefix: string): bigint {
  const text = name.slice(prefix.length);
  if (parseQuantity(text) === undefined)
    throw new VolumeSetUpError("invalid", `${name}: ${JSON.stringify(text)} is no size of huge pages`);
  return quantityValue(text);
}
