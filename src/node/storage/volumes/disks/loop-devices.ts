import type { Files } from "../../../../host/port.ts";
import type { Programs } from "../../../../host/programs-port.ts";
import { callProgram } from "./call-program.ts";
import { listIfThere, readAttribute } from "./scsi-devices.ts";

export interface LoopDeps {
  readonly files: Pick<Files, "list" | "read">;
  readonly programs: Pick<Programs, "run">;
}

const BLOCK = "/sys/block";

/**
 * Takes the loop devices of a file away. A Go kubelet puts one over each device that it maps, so that nobody else can take
 * the device (pkg/volume/util/volumepathhandler); here the mount does that, and what one has left is undone.
 */
export async function detachLoops(deps: LoopDeps, path: string): Promise<void> {
  for (const { name } of await listIfThere(deps.files, BLOCK)) {
    if (!name.startsWith("loop")) continue;
    const file = await readAttribute(deps.files, `${BLOCK}/${name}/loop/backing_file`);
    if (file === path) await callProgram(deps, { path: "losetup", args: ["-d", `/dev/${name}`] });
  }
}
