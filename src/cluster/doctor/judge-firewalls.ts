import { DEFAULT_BRIDGE } from "../containerd/cni-config.ts";
import { computeFirewallMend } from "../containerd/foreign-firewalls.ts";
import type { DoctorFacts } from "./doctor-facts.ts";
import type { Finding } from "./finding.ts";

/** Judges what drops the packets of pods on their way through this machine. */
export function judgeForwarding({ forwardPolicy, foreignFirewalls }: DoctorFacts): Finding {
  const check = "forwarding policy";
  const foreign = foreignFirewalls.find(({ hook }) => hook === "forward");
  if (foreign !== undefined) {
    const meaning = "a firewall drops what pods send to the outside and receive from there";
    return { check, level: "warn", found: foreign.table, meaning, mend: computeFirewallMend(foreign, DEFAULT_BRIDGE) };
  }
  if (forwardPolicy === undefined) return { check, level: "ok", found: "not known" };
  if (forwardPolicy === "ACCEPT") return { check, level: "ok", found: forwardPolicy };
  return {
    check,
    level: "ok",
    found: forwardPolicy,
    meaning: "nodelet up has rules that let the packets of pods pass",
  };
}

/** Judges what drops the packets of pods to this machine's own servers. */
export function judgeInput({ inputPolicy, foreignFirewalls }: DoctorFacts): Finding {
  const check = "input policy";
  const foreign = foreignFirewalls.find(({ hook }) => hook === "input");
  if (foreign !== undefined) {
    const meaning = "a firewall drops what pods send to this machine: they reach neither the cluster's DNS nor its API";
    return { check, level: "warn", found: foreign.table, meaning, mend: computeFirewallMend(foreign, DEFAULT_BRIDGE) };
  }
  if (inputPolicy === undefined) return { check, level: "ok", found: "not known" };
  if (inputPolicy === "ACCEPT") return { check, level: "ok", found: inputPolicy };
  return {
    check,
    level: "warn",
    found: inputPolicy,
    meaning:
      "pods reach this machine's servers through services only, and so not the node's own API, which metrics-server reads",
    mend: `iptables -I INPUT -i ${DEFAULT_BRIDGE} -j ACCEPT, or with ufw: ufw allow in on ${DEFAULT_BRIDGE}`,
  };
}
