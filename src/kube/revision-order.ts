/**
 * Whether revision `a` is older than `b`. Revisions of one resource are decimal numbers that can be compared, as
 * Kubernetes promises since 1.35 (KEP-5504) and etcd has always made them; those of a server that writes them
 * otherwise are not told apart, so that the answer is false.
 */
export function isOlderRevision(a: string, b: string): boolean {
  return isNumber(a) && isNumber(b) && BigInt(a) < BigInt(b);
}

function isNumber(revision: string): boolean {
  return /^\d{1,20}$/.test(revision);
}
