import type { Node } from "../../../api/gen/types.ts";

/**
 * The one that the server wrote later. Resource versions of one object can be compared as numbers where they are
 * numbers; where they are not, and for another object of that name, what was read counts.
 */
export function newerNode(read: Node, known: Node | undefined): Node {
  if (known === undefined || read.metadata?.uid !== known.metadata?.uid) return read;
  const [readVersion, knownVersion] = [read, known].map(({ metadata }) => metadata?.resourceVersion ?? "");
  if (!isNumber(readVersion) || !isNumber(knownVersion)) return read;
  return BigInt(readVersion) < BigInt(knownVersion) ? known : read;
}

function isNumber(version: string | undefined): version is string {
  return version !== undefined && /^\d{1,30}$/.test(version);
}
