import type { Page } from "../../host/http-server.ts";

/** The parts of the node's API that the configuration opens or closes. */
export interface EndpointGates {
  /** `enableDebuggingHandlers`. */
  readonly debuggingHandlers: boolean;
  /** `enableSystemLogHandler`. */
  readonly systemLogHandler: boolean;
}

/** The root paths of `InstallDebuggingDisabledHandlers`, pkg/kubelet/server/server.go. */
const DEBUGGING = [
  "/run",
  "/exec",
  "/attach",
  "/portForward",
  "/containerLogs",
  "/runningpods",
  "/debug/pprof",
  "/logs",
  // nodelet's own, which tells as much as the paths above.
  "/explain",
] as const;

/**
 * Returns the answer, in upstream's words, for a path that the configuration keeps closed. The result is undefined for
 * a path that is open.
 */
export function findClosed(path: string, gates: EndpointGates): Page | undefined {
  if (!gates.debuggingHandlers) {
    if (isBeneath(path, "/configz")) return { status: 404, body: "404 page not found\n" };
    if (DEBUGGING.some((root) => isBeneath(path, root)))
      return { status: 405, body: "Debug endpoints are disabled.\n" };
  }
  if (!gates.systemLogHandler && isBeneath(path, "/logs")) return { status: 405, body: "logs endpoint is disabled.\n" };
  return undefined;
}

/** Tells whether the path is the root or something below it. */
export function isBeneath(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`);
}
