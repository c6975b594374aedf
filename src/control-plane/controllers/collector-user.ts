import type { User } from "../ports/user.ts";

/** In whose name the garbage collector asks API servers of others, which give this user the rights that it has upstream. */
export const COLLECTOR_USER: User = {
  username: "system:serviceaccount:kube-system:generic-garbage-collector",
  groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
};
