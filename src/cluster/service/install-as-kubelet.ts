import { mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CodedError, codeOf, messageOf } from "../../base/errors.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import type { ProgramStart } from "../processes/run-time.ts";
import {
  computeKubeletDropIn,
  computeKubeletProgram,
  computeKubeletUnit,
  findServiceCommand,
  isOwnFile,
} from "./kubelet-files.ts";

/** It comes before the directories of packages on every usual search path, so that no file of theirs is touched. */
const PROGRAM = "/usr/local/bin/kubelet";
/** Where another kubelet of that very path waits meanwhile. */
const REPLACED = `${PROGRAM}.replaced-by-nodelet`;
const UNIT = "/etc/systemd/system/kubelet.service";
/** Its name comes after `10-kubeadm.conf`, and so its words count. */
const DROP_IN = "/etc/systemd/system/kubelet.service.d/90-nodelet.conf";
const SERVICE = "kubelet.service";
/** Where a shell of root, kubeadm and systemd look for programs. */
const SEARCH_PATH = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/** The bytes of a file that tell whose it is: another kubelet has a hundred megabytes. */
const HEAD_BYTES = 4_096;

/** The machine whose kubelet is concerned. */
export interface KubeletMachine {
  /** The directory that is its `/`. */
  readonly root: string;
  /** Runs systemctl and returns what it prints. Rejects where it fails. */
  systemctl(...args: string[]): Promise<string>;
}

interface KubeletChoices extends ProgramStart {
  /** Take the place of another kubelet that the machine has. */
  readonly isReplacing: boolean;
}

/** What was done. */
interface KubeletInstalled {
  /** The path of the program `kubelet` that is nodelet now. */
  readonly program: string;
  /** The kubelet whose place it has taken. */
  readonly replaced: string | undefined;
  /** False where the service does not start with the machine: it is another's, who has not enabled it. */
  readonly isEnabled: boolean;
}

/**
 * Makes nodelet the machine's `kubelet`: the program of that name, and the one that the service of that name runs, with
 * the arguments that it has. A service that runs is restarted; its pods run on. Idempotent. Rejects with
 * `kubelet-exists` where there is another kubelet and `isReplacing` is not set, `odd-unit` or `not-written`.
 */
export async function installAsKubelet(machine: KubeletMachine, choices: KubeletChoices): Promise<KubeletInstalled> {
  const { root, systemctl } = machine;
  const printed = await systemctl("cat", SERVICE).catch(() => undefined);
  const service = printed === undefined ? undefined : findServiceCommand(printed);
  const isOwnUnit = service === undefined || isOwnFile(await readHead(join(root, UNIT)));
  const unit = computeKubeletUnit(PROGRAM);
  const { commandLine } = service ?? findServiceCommand(unit);
  const others = await findOthers(root, service?.program);
  const [replaced] = others;
  if (replaced !== undefined && !choices.isReplacing) {
    const mend = 'with --replace nodelet takes its place, and "nodelet uninstall" gives it back';
    throw new CodedError("kubelet-exists", `${replaced} is a kubelet already: ${mend}`);
  }
  try {
    if (others.includes(PROGRAM)) await rename(join(root, PROGRAM), join(root, REPLACED));
    await write(join(root, PROGRAM), computeKubeletProgram(choices), 0o755);
    if (isOwnUnit) await write(join(root, UNIT), unit, 0o644);
    await write(join(root, DROP_IN), computeKubeletDropIn(PROGRAM, commandLine), 0o644);
  } catch (error) {
    throw new CodedError("not-written", `a file cannot be written: ${messageOf(error)}`, { cause: error });
  }
  await systemctl("daemon-reload");
  if (isOwnUnit) await systemctl("enable", SERVICE);
  await systemctl("try-restart", SERVICE);
  const isEnabled = await systemctl("is-enabled", SERVICE).then(
    () => true,
    () => false,
  );
  return { program: PROGRAM, replaced, isEnabled };
}

/**
 * Gives the place back to the kubelet that was there before, and restarts the service where it runs; without one, the
 * service goes. Pods run on. The result is false where nodelet is not the machine's kubelet.
 */
export async function uninstallAsKubelet({ root, systemctl }: KubeletMachine): Promise<boolean> {
  const own: string[] = [];
  for (const path of [DROP_IN, UNIT, PROGRAM]) if (isOwnFile(await readHead(join(root, path)))) own.push(path);
  if (own.length === 0) return false;
  if (own.includes(UNIT)) await systemctl("disable", "--now", SERVICE);
  for (const path of own) await rm(join(root, path));
  await rename(join(root, REPLACED), join(root, PROGRAM)).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
  });
  await systemctl("daemon-reload");
  if (!own.includes(UNIT)) await systemctl("try-restart", SERVICE);
  return true;
}

/** The kubelets of the machine that are not nodelet: what kubeadm would find, and what the service runs. */
async function findOthers(root: string, serviceProgram: string | undefined): Promise<string[]> {
  const places = SEARCH_PATH.map((directory) => join(directory, "kubelet"));
  const others: string[] = [];
  for (const path of new Set([...places, ...(serviceProgram === undefined ? [] : [serviceProgram])])) {
    if (!(await isNodelet(join(root, path)))) others.push(path);
  }
  return others;
}

/** True for our script, for a link named kubelet to this program, and where there is nothing at all. */
async function isNodelet(path: string): Promise<boolean> {
  const target = await realpath(path).catch(() => undefined);
  return target === undefined || /^nodelet(\.js)?$/.test(basename(target)) || isOwnFile(await readHead(target));
}

/** Reads the beginning of a file. The text is empty where there is none. */
async function readHead(path: string): Promise<string> {
  const file = await open(path).catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
  });
  try {
    const read = await file?.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return read?.buffer.toString("latin1", 0, read.bytesRead) ?? "";
  } finally {
    await file?.close();
  }
}

async function write(path: string, text: string, mode: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await linuxFiles.writeAtomically(path, text, mode);
}
