import type { Page } from "../../host/http-server.ts";
import { isBeneath } from "./endpoint-gates.ts";

interface Unavailable {
  /** The path of the endpoint, which covers everything below it too. */
  readonly root: string;
  readonly what: string;
  readonly instead: string;
}

/** The endpoints that a Go kubelet serves and this node does not serve yet, and what helps meanwhile. */
const UNAVAILABLE: readonly Unavailable[] = [
  { root: "/debug/pprof", what: "profiles of Go", instead: "there are none of this program" },
  { root: "/debug/flags", what: "setting the verbosity", instead: "start the node agent with --v" },
];

const find = (path: string) => UNAVAILABLE.find(({ root }) => isBeneath(path, root));

/** Finds the answer for an endpoint that is not served. The result is undefined for any other path. */
export function findUnavailable(path: string): Page | undefined {
  const found = find(path);
  return found && { status: 501, body: `${found.what}: not served by this version of nodelet, ${found.instead}\n` };
}
