/**
 * Whether this release of Linux (`6.4.0-13-amd64`) keeps a tmpfs out of swap where it is asked to, which it can from 6.4 on
 * (pkg/kubelet/util/swap).
 */
export function canForbidSwap(kernelRelease: string): boolean {
  const [major = 0, minor = 0] = kernelRelease.split(".").map(Number);
  return major > 6 || (major === 6 && minor >= 4);
}
