import type { NodeCondition } from "../../../api/gen/types.ts";
import { formatTime } from "../../../base/clock.ts";

interface NodeConditionsInput {
  /** The errors tell, each in a sentence, why pods cannot be run at all. The list is empty when they can. */
  errors: readonly string[];
  /** The pressure is undefined where it is not measured; the conditions about it are then left as they are. */
  pressure?: NodePressure;
  previous: readonly NodeCondition[];
  /** Milliseconds since the epoch. */
  now: number;
}

/** The resources that the node is short of. */
export interface NodePressure {
  readonly memory: boolean;
  readonly disk: boolean;
  readonly pid: boolean;
}

interface Verdict {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

/** The two states of a pressure condition, each with the event that tells of the change to it. */
interface PressureWords {
  readonly type: string;
  readonly pressed: Omit<Verdict, "status"> & { readonly event: string };
  readonly relieved: Omit<Verdict, "status"> & { readonly event: string };
}

/** The words and the order are upstream's (pkg/kubelet/nodestatus/setters.go). */
export const PRESSURE_CONDITIONS: Readonly<Record<keyof NodePressure, PressureWords>> = {
  memory: {
    type: "MemoryPressure",
    pressed: {
      reason: "KubeletHasInsufficientMemory",
      message: "kubelet has insufficient memory available",
      event: "NodeHasInsufficientMemory",
    },
    relieved: {
      reason: "KubeletHasSufficientMemory",
      message: "kubelet has sufficient memory available",
      event: "NodeHasSufficientMemory",
    },
  },
  disk: {
    type: "DiskPressure",
    pressed: {
      reason: "KubeletHasDiskPressure",
      message: "kubelet has disk pressure",
      event: "NodeHasDiskPressure",
    },
    relieved: {
      reason: "KubeletHasNoDiskPressure",
      message: "kubelet has no disk pressure",
      event: "NodeHasNoDiskPressure",
    },
  },
  pid: {
    type: "PIDPressure",
    pressed: {
      reason: "KubeletHasInsufficientPID",
      message: "kubelet has insufficient PID available",
      event: "NodeHasInsufficientPID",
    },
    relieved: {
      reason: "KubeletHasSufficientPID",
      message: "kubelet has sufficient PID available",
      event: "NodeHasSufficientPID",
    },
  },
};

/**
 * Computes the node's conditions: those of others stay as they were, ours are judged anew in their places, and new ones
 * are added at the end. Ready comes last of ours, as upstream keeps it for clients that look there.
 */
export function computeNodeConditions({ errors, pressure, previous, now }: NodeConditionsInput): NodeCondition[] {
  const conditions = new Map(previous.map((condition) => [condition.type, condition]));
  const time = formatTime(now);
  const judge = (type: string, verdict: Verdict) => {
    const before = conditions.get(type);
    const isSame = before?.status === verdict.status && before.lastTransitionTime !== undefined;
    const lastTransitionTime = isSame ? before.lastTransitionTime : time;
    conditions.set(type, {
      type,
      ...verdict,
      lastHeartbeatTime: time,
      ...(lastTransitionTime && { lastTransitionTime }),
    });
  };
  if (pressure !== undefined) {
    for (const kind of ["memory", "disk", "pid"] as const) {
      const { type, pressed, relieved } = PRESSURE_CONDITIONS[kind];
      const { reason, message } = pressure[kind] ? pressed : relieved;
      judge(type, { status: pressure[kind] ? "True" : "False", reason, message });
    }
  }
  judge("Ready", judgeReadiness(errors));
  return [...conditions.values()];
}

function judgeReadiness(errors: readonly string[]): Verdict {
  return errors.length === 0
    ? { status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" }
    : { status: "False", reason: "KubeletNotReady", message: joinErrors(errors) };
}

/** Joins the errors as Go's aggregate of errors prints itself. */
function joinErrors(errors: readonly string[]): string {
  const [only = "", ...others] = new Set(errors);
  return others.length === 0 ? only : `[${[only, ...others].join(", ")}]`;
}
