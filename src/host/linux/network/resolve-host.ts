import { lookup } from "node:dns/promises";
import { untilAborted } from "../../../base/abort.ts";
import { CodedError } from "../../../base/errors.ts";
import type { ResolveHost } from "../../resolve-host.ts";
import { describeLookupError } from "./dial.ts";

/**
 * The real `ResolveHost`, which resolves names as the machine does. A lookup that is given up ends by itself, in its
 * own time.
 */
export const resolveHost: ResolveHost = async (host, signal) => {
  const found = lookup(host, { all: true }).catch((error: unknown) => {
    throw new CodedError("lookup-failed", describeLookupError(error, host), { cause: error });
  });
  return (await untilAborted(found, signal)).map(({ address }) => address);
};
