import type { Container, Pod, Probe } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";

/** The question that a probe answers: whether its container has started, is ready, is alive. */
export type ProbeType = "startup" | "readiness" | "liveness";

const KINDS: readonly ProbeType[] = ["startup", "readiness", "liveness"];

/** The names in events and in the label `probe_type`. */
export const PROBE_NAMES: Readonly<Record<ProbeType, string>> = {
  startup: "Startup",
  readiness: "Readiness",
  liveness: "Liveness",
};

/** A container's probes, in the order in which they begin. */
export function probesOf(container: Container): Array<{ kind: ProbeType; probe: Probe }> {
  return KINDS.flatMap((kind) => {
    const probe = container[`${kind}Probe`];
    return probe === undefined ? [] : [{ kind, probe }];
  });
}

/**
 * The containers whose probes run: sidecars and main containers, but no other init containers and no ephemeral ones.
 */
export function probedContainers({ spec }: Pod): Container[] {
  const sidecars = (spec?.initContainers ?? []).filter(isRestartableInitContainer);
  return [...sidecars, ...(spec?.containers ?? [])].filter((container) => probesOf(container).length > 0);
}
