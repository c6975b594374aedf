import type { DoctorFacts } from "./doctor-facts.ts";
import type { Finding } from "./finding.ts";

/** What a program is for, which Debian package has it, and whether pods run without it. */
interface UpProgram {
  readonly debian: string;
  /** What does not work without it. */
  readonly meaning: string;
  readonly isNeeded: boolean;
}

/** The programs that `nodelet up` starts, but those that have a check of their own. */
export const UP_PROGRAMS: Readonly<Record<string, UpProgram>> = {
  ctr: { debian: "containerd", meaning: "images cannot be loaded", isNeeded: true },
  ip: { debian: "iproute2", meaning: "the bridge of the pods cannot be made", isNeeded: true },
  unshare: { debian: "util-linux", meaning: "the runtime gets no mount namespace", isNeeded: true },
  umount: { debian: "util-linux", meaning: "the mount namespace of the runtime cannot be removed", isNeeded: true },
  conntrack: { debian: "conntrack", meaning: "UDP clients keep endpoints that are gone", isNeeded: false },
};

/** Judges them together: what is missing, and one command that installs it. */
export function judgePrograms({ missingPrograms }: DoctorFacts): Finding {
  const check = "other programs";
  const missing = Object.entries(UP_PROGRAMS).filter(([name]) => missingPrograms.includes(name));
  if (missing.length === 0) return { check, level: "ok", found: Object.keys(UP_PROGRAMS).join(", ") };
  return {
    check,
    level: missing.some(([, { isNeeded }]) => isNeeded) ? "fail" : "warn",
    found: `missing: ${missing.map(([name]) => name).join(", ")}`,
    meaning: missing.map(([, { meaning }]) => meaning).join("; "),
    mend: `apt-get install ${[...new Set(missing.map(([, { debian }]) => debian))].join(" ")}`,
  };
}
