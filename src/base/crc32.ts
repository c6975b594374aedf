import { crc32 } from "node:zlib";

/** The checksum CRC-32 of IEEE of the text in UTF-8, as Go's `crc32.ChecksumIEEE`. */
export function crc32OfText(text: string): number {
  return crc32(text);
}
