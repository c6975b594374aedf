/** What a running container runtime says that it can do (CRI's `Status`). */
export interface RuntimeWord {
  /** Of the socket that it answered on. */
  endpoint: string;
  /** `containerd 2.1.9`. */
  version: string;
  /** What the handler does that pods get which name no runtime class. */
  userNamespaces: boolean;
  recursiveReadOnlyMounts: boolean;
  /** Of the runtime as a whole. */
  supplementalGroupsPolicy: boolean;
}
