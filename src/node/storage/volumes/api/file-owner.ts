import type { Pod } from "../../../../api/gen/types.ts";

/** Who owns the files that are made for a pod; undefined: whoever makes them. */
export interface FileOwner {
  readonly user: number | undefined;
  readonly group: number | undefined;
}

/**
 * The pod's `fsGroup`, and the user that every container of it runs as, if there is one. Ephemeral containers do not
 * count, since they cannot say who they run as (pkg/volume/util/util.go, FsUserFrom).
 */
export function computeFileOwner(pod: Pod): FileOwner {
  const { securityContext, initContainers = [], containers = [] } = pod.spec ?? {};
  const users = [...initContainers, ...containers].map((container) => {
    return container.securityContext?.runAsUser ?? securityContext?.runAsUser;
  });
  const isOne = users.every((user) => user === users[0]);
  return { user: isOne ? users[0] : undefined, group: securityContext?.fsGroup };
}
