import type { Container, Pod, Probe } from "../../../api/gen/types.ts";
import { isRestartableInitContainer } from "../../../api/pods.ts";

/** What a probe decides: whether its container has started, is ready, is alive. */
export type ProbeType = "startup" | "readiness" | "liveness";

const KINDS: readonly ProbeType[] = ["startup", "readiness", "liveness"];

/** As events and the label `probe_type` call it. */
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

/** The containers whose probes run: not of those that are to end before the others begin, nor of ephemeral ones. */
export function probedContainers({ spec }: Pod): Container[] {
  const sidecars = (spec?.initContainers ?? []).filter(isRestartableInitContainer);
  return [...sidecars, ...(spec?.containers ?? [])].filter((container) => probesOf(container).length > 0);
}
