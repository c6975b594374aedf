/** The 32-bit FNV-1a hash of the bytes: short, stable, and no protection against anybody who wants a collision. */
export function fnv32a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  // By index: a checkpoint has megabytes, and an iterator takes several times as long.
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash >>> 0;
}
