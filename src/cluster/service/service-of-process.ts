import { readFile } from "node:fs/promises";
import { isSystemdBooted } from "../processes/find-systemd.ts";
import { runSystemctl } from "./install-service.ts";

/**
 * Finds the service of systemd whose main process this is. Such a process is not to be ended by a signal: the service
 * would start it anew.
 */
export async function findServiceOf(pid: number): Promise<string | undefined> {
  if (!isSystemdBooted()) return undefined;
  const name = serviceOfCgroups(await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => ""));
  if (name === undefined) return undefined;
  const mainPid = await runSystemctl("show", "--property=MainPID", "--value", name).catch(() => "");
  return mainPid.trim() === `${pid}` ? name : undefined;
}

/** The service that a process belongs to by its cgroups, which systemd names after units; see cgroups(7) for the text. */
export function serviceOfCgroups(text: string): string | undefined {
  const own = text.split("\n").find((line) => /^(0::|\d+:name=systemd:)\/./.test(line));
  return own
    ?.split("/")
    .findLast((part) => part.endsWith(".service") || part.endsWith(".scope"))
    ?.match(/^.*\.service$/)?.[0];
}
