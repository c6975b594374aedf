import type { Page } from "../../host/http-server.ts";
import { isBeneath } from "./endpoint-gates.ts";

interface Unavailable {
  /** With what is beneath it. */
  readonly root: string;
  readonly what: string;
  readonly instead: string;
}

/** What a Go kubelet serves and this node does not yet, and what helps meanwhile. */
const UNAVAILABLE: readonly Unavailable[] = [
  { root: "/debug/pprof", what: "profiles of Go", instead: "there are none of this program" },
  { root: "/debug/flags", what: "setting the verbosity", instead: "start the node agent with --v" },
];

const find = (path: string) => UNAVAILABLE.find(({ root }) => isBeneath(path, root));

/** Undefined for a path that is none of these. */
export function findUnavailable(path: string): Page | undefined {
  const found = find(path);
  return found && { status: 501, body: `${found.what}: not served by this version of nodelet, ${found.instead}\n` };
}
