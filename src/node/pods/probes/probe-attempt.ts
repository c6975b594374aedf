import type { Container, Pod, Probe } from "../../../api/gen/types.ts";
import type { ProbeType } from "./probe-type.ts";

/** A container and the probe that is made of it. */
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
 * The result of a probe. A `warning` counts as a success. An `error` says nothing about the container, so that it is
 * told and thrown away; `state` is upstream's name for the result that could not be found out.
 */
export type ProbeAttempt =
  | { readonly result: "success" | "warning" | "failure"; readonly output: string }
  | { readonly result: "error"; readonly state: "unknown" | "failure"; readonly message: string };

/** The limit of a body, and of a command's output (pkg/probe/http/http.go, pkg/probe/exec/exec.go). */
export const MAX_OUTPUT_BYTES = 10 * 1024;

/** `timeoutSeconds`. Default 1. */
export function timeoutSecondsOf({ timeoutSeconds }: Probe): number {
  return timeoutSeconds || 1;
}
