import type { Node, NodeAddress } from "../../../api/gen/types.ts";
import type { CertificateRotation } from "./certificate-rotation.ts";

/** The node's object, as its registration knows it. */
interface FollowedNode {
  node(): Node | undefined;
  follow(listener: () => void): () => void;
}

/** Returns the addresses of the node, or none before its object is known. */
export function addressesOf(ownNode: Pick<FollowedNode, "node"> | undefined): readonly NodeAddress[] {
  return ownNode?.node()?.status?.addresses ?? [];
}

/** Returns the same rotation, which now also looks at its certificate at once when the node's addresses change. */
export function followAddresses(rotation: CertificateRotation, ownNode: FollowedNode | undefined): CertificateRotation {
  let known = "";
  return {
    ...rotation,
    async run(signal) {
      const stop = ownNode?.follow(() => {
        const now = JSON.stringify(addressesOf(ownNode));
        if (now !== known) rotation.reconsider();
        known = now;
      });
      try {
        await rotation.run(signal);
      } finally {
        stop?.();
      }
    },
  };
}
