/**
 * The umask of services, which containerd and its plugins count on: with one of 077, as hardened machines have it, only
 * root could read the root directory of a container.
 */
export const USUAL_UMASK = 0o022;
