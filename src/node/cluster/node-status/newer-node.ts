import type { Node } from "../../../api/gen/types.ts";

/**
 * Returns the node that the server wrote later. Resource versions of one object are compared as numbers where they are
 * numbers. Where they are not, and for another object of the same name, the node that was read counts.
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
