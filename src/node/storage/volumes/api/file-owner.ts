import type { Pod } from "../../../../api/gen/types.ts";

/** The owner of files that are made for a pod; an undefined field leaves the node agent's own user or group. */
export interface FileOwner {
  readonly user: number | undefined;
  readonly group: number | undefined;
}

/**
 * The pod's `fsGroup`, and the user that all of its containers run as, if they agree. Ephemeral containers do not count,
 * because they cannot name a user (pkg/volume/util/util.go, FsUserFrom).
 */
export function computeFileOwner(pod: Pod): FileOwner {
  const { securityContext, initContainers = [], containers = [] } = pod.spec ?? {};
  const users = [...initContainers, ...containers].map((container) => {
    return container.securityContext?.runAsUser ?? securityContext?.runAsUser;
  });
  const isOne = users.every((user) => user === users[0]);
  return { user: isOne ? users[0] : undefined, group: securityContext?.fsGroup };
}
