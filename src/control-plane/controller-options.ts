/** Which of the programs beside the API server are within it. */
export interface ControllerOptions {
  /** Places pods. Default true; false leaves that to a kube-scheduler. */
  scheduler?: boolean | undefined;
  /** Does what is a kube-controller-manager's work elsewhere. Default true; false leaves all of it to that program. */
  controllers?: boolean | undefined;
  /** `10.64.0.0/16`: nodes get their pods' addresses of it (`spec.podCIDR`). Default: none are given. */
  clusterCidr?: string | undefined;
  /** How large each node's part is. Default 24 bits. */
  nodeMaskSize?: number | undefined;
}
