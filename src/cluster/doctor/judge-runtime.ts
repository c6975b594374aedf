import { parseContainerdVersion } from "../containerd/containerd-config.ts";
import type { DoctorFacts } from "./doctor-facts.ts";
import type { Finding } from "./finding.ts";

/** Since this major version containerd reports what its handlers can do, which a kubelet relies on. */
const TELLING_MAJOR = 2;
const NEWER_CONTAINERD = "install containerd 2.0 or newer";
const NEWER_RUNC = "install runc 1.2 or newer";

/** Judges user namespaces, which need a kernel that has them and a runtime that reports that it gives them to pods. */
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
    // Where containerd can report the feature, runc is the part that lacks it.
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

/** Judges the other features that pods may ask for and that only newer runtimes have. */
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
    // The kernel and runc make mounts read-only all the way down.
    mend: onlyMounts
      ? "use Linux 5.12 or newer, runc 1.1 or newer and the shim that comes with containerd"
      : NEWER_CONTAINERD,
  };
}

function isTelling(version: string): boolean {
  return (parseContainerdVersion(version)?.major ?? 0) >= TELLING_MAJOR;
}
