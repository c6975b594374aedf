import { isApiError } from "../../api/api-error.ts";
import type { ObjectName, ResourceReader } from "../ports/resources.ts";

/**
 * True for the error of a deletion whose object is gone, or whose name another object has. The error alone does not
 * tell: a webhook refuses with whatever code it likes, and the object is then still there.
 */
export function isGoneAlready(
  error: unknown,
  reader: Pick<ResourceReader, "get">,
  { uid, ...name }: ObjectName & { readonly uid: string | undefined },
): boolean {
  if (!isApiError(error, "NotFound") && !isApiError(error, "Conflict")) return false;
  const found = reader.get(name);
  return found === undefined || (uid !== undefined && found.metadata.uid !== uid);
}
