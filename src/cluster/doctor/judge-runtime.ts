import { parseContainerdVersion } from "../containerd/containerd-config.ts";
import type { DoctorFacts } from "./doctor-facts.ts";
import type { Finding } from "./finding.ts";

/** Since this one containerd tells what its handlers can do, which a kubelet goes by. */
const TELLING_MAJOR = 2;
const NEWER_CONTAINERD = "install containerd 2.0 or newer";
const NEWER_RUNC = "install runc 1.2 or newer";

/** User namespaces take a kernel that has them and a runtime that says it gives them to pods. */
export function judgeUserNamespaces(facts: DoctorFacts): Finding {
  const check = "user namespaces";
  const meaning = "pods with hostUsers: false cannot run";
  if (!facts.namespaces.includes("user") || facts.maxUserNamespaces === 0) {
    const mend = "sysctl -w user.max_user_namespaces=15000";
    return { check, level: "warn", found: "not available", meaning, mend };
  }
  const { runtimeWord } = facts;
  if (runtimeWord?.userNamespaces === true) return { check, level: "ok", found: `given by ${runtimeWord.version}` };
  if (runtimeWord !== undefined) {
    const found = `the kernel has them, ${runtimeWord.version} does not give them to pods`;
    // Of a containerd that could tell, it is runc that cannot.
    const mend = isTelling(runtimeWord.version) ? NEWER_RUNC : `${NEWER_CONTAINERD}, and runc 1.2 or newer`;
    return { check, level: "warn", found, meaning, mend };
  }
  const installed = parseContainerdVersion(facts.containerd ?? "");
  if (installed === undefined || installed.major >= TELLING_MAJOR) {
    return { check, level: "ok", found: "the kernel has them; no runtime runs that could be asked" };
  }
  const found = `the kernel has them, containerd ${installed.text} does not give them to pods`;
  return { check, level: "warn", found, meaning, mend: `${NEWER_CONTAINERD}, and runc 1.2 or newer` };
}

/** What else pods may ask for that only newer runtimes do. */
export function judgeRuntimeFeatures({ runtimeWord, containerd }: DoctorFacts): Finding {
  const check = "runtime features";
  const installed = parseContainerdVersion(containerd ?? "");
  if (runtimeWord === undefined && (installed === undefined || installed.major >= TELLING_MAJOR)) {
    return { check, level: "ok", found: "not known, no runtime runs that could be asked" };
  }
  const name = runtimeWord?.version ?? `containerd ${installed?.text}`;
  const fields = [
    { field: "recursiveReadOnly: Enabled", isThere: runtimeWord?.recursiveReadOnlyMounts === true },
    { field: "supplementalGroupsPolicy: Strict", isThere: runtimeWord?.supplementalGroupsPolicy === true },
  ];
  const missing = fields.filter(({ isThere }) => !isThere).map(({ field }) => field);
  if (missing.length === 0) return { check, level: "ok", found: fields.map(({ field }) => field).join(", ") };
  const onlyMounts = missing.length === 1 && runtimeWord?.supplementalGroupsPolicy === true;
  return {
    check,
    level: "warn",
    found: `${name} lacks ${missing.join(" and ")}`,
    meaning: "pods that ask for it are refused, or their containers do not start",
    // Mounts are read-only all the way down by the kernel and runc.
    mend: onlyMounts
      ? "use Linux 5.12 or newer, runc 1.1 or newer and the shim that comes with containerd"
      : NEWER_CONTAINERD,
  };
}

function isTelling(version: string): boolean {
  return (parseContainerdVersion(version)?.major ?? 0) >= TELLING_MAJOR;
}
