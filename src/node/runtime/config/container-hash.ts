import type { Container } from "../../../api/gen/types.ts";
import { fnv32a } from "../../../base/fnv.ts";
import { encodeGoJson, encodeGoString } from "./go-json.ts";

/**
 * The hash that is recorded on a container (`io.kubernetes.container.hash`), lower-case hex: when the pod's hash differs,
 * the container is restarted. It covers name and image, as kubelet's does from 1.31 on (pickFieldsToHash); other fields
 * of a running pod's containers cannot change without a new pod.
 */
export function computeContainerHash({ name, image = "" }: Container): string {
  return hashJson(`{"image":${encodeGoString(image)},"name":${encodeGoString(name)}}`);
}

/**
 * True if a running container with this recorded hash still is what the pod asks for. The recorded hash may be ours, or
 * the hash over all fields that kubelets up to 1.30 recorded, so that the pods they left behind are adopted and not
 * restarted.
 */
export function isSameContainer(container: Container, recordedHash: string): boolean {
  if (computeContainerHash(container) === recordedHash || computeFullHash(container) === recordedHash) return true;
  // Defaulting sets a resize policy since 1.33; a kubelet that recorded this hash did not know of it.
  const { resizePolicy, ...older } = container;
  return resizePolicy !== undefined && computeFullHash(older) === recordedHash;
}

function computeFullHash(container: Container): string {
  return hashJson(encodeGoJson("Container", container));
}

/** kubelet does not hash the JSON itself but Go's dump of its bytes: `([]uint8)[123 34 …]` (hash.DeepHashObject). */
function hashJson(json: string): string {
  return fnv32a(Buffer.from(`([]uint8)[${Buffer.from(json).join(" ")}]`)).toString(16);
}
