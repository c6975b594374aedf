import type { ServedResponse } from "../../host/http-server.ts";

interface Unavailable {
  /** With what is beneath it. */
  readonly root: string;
  readonly what: string;
  readonly instead: string;
  /** What makes a Go kubelet refuse it. */
  readonly needs?: "debuggingHandlers" | "systemLogHandler";
}

const STREAMS = { needs: "debuggingHandlers" } as const;

/** What a Go kubelet serves and this node does not yet, and what helps meanwhile. */
const UNAVAILABLE: readonly Unavailable[] = [
  { root: "/containerLogs", what: "logs of containers", instead: "use crictl logs on the node", ...STREAMS },
  { root: "/exec", what: "exec", instead: "use crictl exec on the node", ...STREAMS },
  { root: "/run", what: "run", instead: "use crictl exec on the node", ...STREAMS },
  { root: "/attach", what: "attach", instead: "use crictl attach on the node", ...STREAMS },
  { root: "/portForward", what: "port-forward", instead: "use crictl port-forward on the node", ...STREAMS },
  { root: "/logs", what: "logs of the node", instead: "read /var/log on the node", needs: "systemLogHandler" },
  { root: "/debug/pprof", what: "profiles of Go", instead: "there are none of this program", ...STREAMS },
  { root: "/debug/flags", what: "setting the verbosity", instead: "start the node agent with --v" },
  { root: "/checkpoint", what: "checkpoints", instead: "use crictl checkpoint on the node" },
  { root: "/stats", what: "statistics", instead: "use crictl stats on the node" },
  { root: "/metrics/cadvisor", what: "metrics of containers", instead: "use crictl stats on the node" },
  { root: "/metrics/resource", what: "metrics of resources", instead: "use crictl stats on the node" },
  { root: "/metrics/probes", what: "metrics of probes", instead: "see the pods' conditions and events" },
];

/** True for what `findUnavailable` has an answer to. */
export function isUnavailable(path: string): boolean {
  return find(path) !== undefined;
}

const find = (path: string) => UNAVAILABLE.find(({ root }) => path === root || path.startsWith(`${root}/`));

/** Undefined for a path that is none of these. */
export function findUnavailable(
  path: string,
  options: { readonly debuggingHandlers: boolean; readonly systemLogHandler: boolean },
): ServedResponse | undefined {
  const found = find(path);
  if (found === undefined) return undefined;
  const isDebugging = found.needs !== undefined;
  if (isDebugging && !options.debuggingHandlers) return { status: 405, body: "Debug endpoints are disabled.\n" };
  if (found.needs === "systemLogHandler" && !options.systemLogHandler) {
    return { status: 405, body: "logs endpoint is disabled.\n" };
  }
  return { status: 501, body: `${found.what}: not served by this version of nodelet, ${found.instead}\n` };
}
