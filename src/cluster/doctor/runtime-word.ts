/** What a running container runtime reports about its abilities (CRI's `Status`). */
export interface RuntimeWord {
  /** The endpoint of the socket that the runtime answered on. */
  endpoint: string;
  /** The runtime's name and version, such as `containerd 2.1.9`. */
  version: string;
  /** The abilities of the default handler, for pods that name no runtime class. */
  userNamespaces: boolean;
  recursiveReadOnlyMounts: boolean;
  /** This ability belongs to the runtime as a whole. */
  supplementalGroupsPolicy: boolean;
}
