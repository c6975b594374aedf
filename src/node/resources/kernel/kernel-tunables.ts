import { CodedError, messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Proc } from "../../../host/proc-port.ts";

/** What becomes of a tunable that is set otherwise: the start fails, it is set, or it stays. */
type TunableTreatment = "refuse" | "set" | "keep";

interface TunableDeps {
  readonly proc: Pick<Proc, "tunable" | "setTunable">;
  readonly log: Log;
}

/** What a node needs of its kernel (pkg/kubelet/cm/container_manager_linux.go, setupKernelTunables). */
const WANTED: ReadonlyArray<readonly [name: string, value: number]> = [
  ["kernel/keys/root_maxbytes", 25_000_000],
  ["kernel/keys/root_maxkeys", 1_000_000],
  ["kernel/panic", 10],
  ["kernel/panic_on_oops", 1],
  ["vm/overcommit_memory", 1],
  ["vm/panic_on_oom", 0],
];

/**
 * Looks at the kernel's tunables. `refuse` rejects, in upstream's words, where any differs. A tunable that cannot be read or
 * set is logged otherwise: pods run without it.
 */
export async function ensureKernelTunables({ proc, log }: TunableDeps, treatment: TunableTreatment): Promise<void> {
  if (treatment === "keep") return;
  const problems: string[] = [];
  for (const [name, wanted] of WANTED) {
    const actual = await proc.tunable(name);
    if (actual === wanted) continue;
    const found = actual === undefined ? "unknown" : String(actual);
    if (treatment === "refuse") {
      problems.push(`invalid kernel flag: ${name}, expected value: ${wanted}, actual value: ${found}`);
      continue;
    }
    log.info("Updating kernel flag", { flag: name, expectedValue: wanted, actualValue: found });
    await proc.setTunable(name, wanted).catch((error: unknown) => {
      log.error("Failed to update a kernel flag", { flag: name, error: messageOf(error) });
    });
  }
  if (problems.length === 0) return;
  const mend = "set them with sysctl, or set protectKernelDefaults to false";
  const all = problems.length === 1 ? problems.join("") : `[${problems.join(", ")}]`;
  throw new CodedError("kernel-tunables", `Failed to start ContainerManager: ${all}; ${mend}`);
}
