import type { Container, Pod, Probe } from "../../../api/gen/types.ts";
import type { ProbeType } from "./probe-type.ts";

/** What is probed, and by what. */
export interface ProbedContainer {
  pod: Pod;
  container: Container;
  kind: ProbeType;
  probe: Probe;
  containerId: string;
  /** The pod's first address; undefined while it is not known. */
  podIp: string | undefined;
}

/**
 * What came of a probe. A `warning` counts as a success. An `error` says nothing about the container, so that it is told
 * and thrown away; `state` is how upstream names what it could not find out.
 */
export type ProbeAttempt =
  | { readonly result: "success" | "warning" | "failure"; readonly output: string }
  | { readonly result: "error"; readonly state: "unknown" | "failure"; readonly message: string };

/** Of a body, and of what a command prints (pkg/probe/http/http.go, pkg/probe/exec/exec.go). */
export const MAX_OUTPUT_BYTES = 10 * 1024;

/** `timeoutSeconds`, which is 1 where nothing is said. */
export function timeoutSecondsOf({ timeoutSeconds }: Probe): number {
  return timeoutSeconds || 1;
}
