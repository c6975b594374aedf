/** Compares by code units, so that the order is the same on all machines. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const VERSION = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/;
const STABILITY = ["alpha", "beta", ""];

/** Kubernetes' order of versions, the preferred first: v2, v1, v1beta2, v1beta1, v1alpha1, then all else by name. */
export function compareApiVersions(a: string, b: string): number {
  const [left, right] = [VERSION.exec(a), VERSION.exec(b)];
  if (!left || !right) return Number(!left) - Number(!right) || compareText(a, b);
  const stability = STABILITY.indexOf(right[2] ?? "") - STABILITY.indexOf(left[2] ?? "");
  return stability || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0);
}
