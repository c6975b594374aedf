import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { codeOf } from "../../base/errors.ts";
import { readRuntimeOptions } from "./runtime-options.ts";
import { DEFAULT_STATE_DIRECTORY, type PodPlaces } from "./state-layout.ts";

/** Where charts look: CSI drivers, device plugins and log collectors mount these directories of the machine. */
const OF_THE_MACHINE: PodPlaces = { kubeletRoot: "/var/lib/kubelet", podLogs: "/var/log/pods" };

/**
 * Chooses the places of a node. That of the default state directory is the machine's kubelet and takes the places that
 * charts expect, unless another kubelet was there before it. All others keep their pods beneath their own directory.
 * The choice of an earlier start stays, because pods may run with it. `tell` gets a line for a person where charts may
 * look in vain.
 */
export async function choosePodPlaces(
  stateDirectory: string,
  tell: (line: string) => void,
  machine: PodPlaces & { readonly stateDirectory: string } = {
    ...OF_THE_MACHINE,
    stateDirectory: DEFAULT_STATE_DIRECTORY,
  },
): Promise<PodPlaces> {
  const own = ownPlaces(stateDirectory);
  const recorded = await readRecordedPlaces(stateDirectory);
  if (recorded !== undefined) return recorded;
  if (stateDirectory !== machine.stateDirectory) return own;
  const isFree = (await isEmpty(own.kubeletRoot)) && (await isEmpty(machine.kubeletRoot));
  if (isFree) return { kubeletRoot: machine.kubeletRoot, podLogs: machine.podLogs };
  tell(`${machine.kubeletRoot} is in use: pods are kept in ${own.kubeletRoot}, where few charts of drivers look`);
  return own;
}

/** The places of a node that was started before; those beneath its directory where that is not known. */
export async function readPodPlaces(stateDirectory: string): Promise<PodPlaces> {
  return (await readRecordedPlaces(stateDirectory)) ?? ownPlaces(stateDirectory);
}

async function readRecordedPlaces(stateDirectory: string): Promise<PodPlaces | undefined> {
  const { kubeletRoot, podLogs } = await readRuntimeOptions(stateDirectory);
  return kubeletRoot === undefined || podLogs === undefined ? undefined : { kubeletRoot, podLogs };
}

function ownPlaces(stateDirectory: string): PodPlaces {
  return { kubeletRoot: join(stateDirectory, "kubelet"), podLogs: join(stateDirectory, "pod-logs") };
}

async function isEmpty(directory: string): Promise<boolean> {
  try {
    return (await readdir(directory)).length === 0;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return true;
    throw error;
  }
}
