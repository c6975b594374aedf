import { BinaryReader } from "@bufbuild/protobuf/wire";

/**
 * Reads a message, and throws when it has read so many numbers: each field has one that says which it is, and each text,
 * list and message in it one more, its length. Two million empty messages take four megabytes on the wire, and half a second and
 * hundreds of megabytes to be read.
 */
export function createBoundedReader(bytes: Uint8Array, maxNumbers: number): BinaryReader {
  const reader = new BinaryReader(bytes);
  const readNumber = reader.uint32.bind(reader);
  let left = maxNumbers;
  reader.uint32 = () => {
    if (left-- <= 0) throw new RangeError(`a message has more than ${maxNumbers} fields and lengths`);
    return readNumber();
  };
  return reader;
}
