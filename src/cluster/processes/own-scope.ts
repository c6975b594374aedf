import { randomBytes } from "node:crypto";
import type { Log } from "../../base/log.ts";
import { findSystemd } from "./find-systemd.ts";

/** The slice in which `systemd-cgls` shows all processes of nodelet that are no pod's. */
const SLICE = "nodelet.slice";
/** The unit that `nodelet install` writes. A machine that goes down stops it first, and with it the pods in order. */
const SERVICE = "nodelet.service";
const SUFFIX_BYTES = 4;

/**
 * The command prefix that gives a daemon a unit of its own where systemd runs the machine; empty elsewhere. Without it a
 * daemon, and the shims of containers with it, would end with the session or service of whoever started it. The name
 * differs each time, because the unit of the daemon before lives on in its shims.
 */
export async function prefixWithScope(name: string, log: Log): Promise<readonly string[]> {
  if ((await findSystemd(log)) === undefined) return [];
  const unit = `nodelet-${name}-${randomBytes(SUFFIX_BYTES).toString("hex")}`;
  const options = [`--unit=${unit}`, `--slice=${SLICE}`, `--description=nodelet: ${name}`];
  return ["systemd-run", "--scope", "--quiet", "--collect", ...options, `--property=Before=${SERVICE}`, "--"];
}
