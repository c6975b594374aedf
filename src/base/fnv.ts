/** The 32-bit FNV-1a hash of the bytes: short, stable, and no protection against anybody who wants a collision. */
export function fnv32a(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
