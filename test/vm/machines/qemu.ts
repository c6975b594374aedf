import { spawn } from "node:child_process";
import { open, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import type { Disk } from "../disk/build-disk.ts";
import { PORT_NAME } from "../disk/recipe.ts";
import { type Channel, connectTo, openChannel } from "./channel.ts";
import type { Machine } from "./machine.ts";
import { createMachineClock, type MachineClock, within } from "./machine-clock.ts";

const OFF_MS = 1_200_000;
const LOOK_AGAIN_MS = 200;
/**
 * The machine's clock counts instructions, two nanoseconds each, while it has something to do. However slowly they are
 * emulated, nothing in the machine takes longer, and none of its time limits ends early.
 */
const NS_PER_INSTRUCTION_SHIFT = 1;
/** What another run needs to know of a machine that is kept. */
export const KEPT_FILE = "machine.json";

interface QemuOptions {
  readonly disk: Disk;
  /** Where its sockets and the log of its console are. */
  readonly directory: string;
  /** The console is this terminal's. */
  readonly isShell?: boolean;
  /** What the kernel is told beside what it always is; of two words for one thing the later is in force. */
  readonly kernelWords?: readonly string[];
}

/** One QEMU process and the connections to it. */
interface Running {
  readonly pid: number;
  readonly clock: MachineClock;
  readonly channel: Channel;
}

/** What `KEPT_FILE` has. */
interface Kept {
  readonly pid: number;
  readonly disk: Disk;
}

/**
 * Starts a virtual machine whose processor is emulated: it needs no rights and no abilities of this machine, and is
 * some twenty times slower. Its network reaches nothing. What it writes is on the disk when it says so.
 */
export async function startQemu(options: QemuOptions): Promise<Machine> {
  return createMachine(options, await start(options));
}

/** Goes on with the machine that a run before this one has kept in the directory, and switches it on where it is off. */
export async function attachQemu(directory: string): Promise<Machine> {
  const { pid, disk }: Kept = JSON.parse(await readFile(join(directory, KEPT_FILE), "utf8"));
  const options = { disk, directory };
  if (!isOn(pid)) return await startQemu(options);
  const clock = createMachineClock(pid);
  const channel = await openChannel(socketsOf(directory).commands, clock);
  await channel.run("true");
  return createMachine(options, { pid, clock, channel });
}

function createMachine(options: QemuOptions, first: Running): Machine {
  let running = first;
  const sockets = socketsOf(options.directory);
  const kept = join(options.directory, KEPT_FILE);
  const stop = async (): Promise<void> => {
    const { pid, channel } = running;
    channel.close();
    if (!isOn(pid)) return;
    process.kill(pid, "SIGKILL");
    await untilEnded(pid);
  };
  const machine: Machine = {
    kind: "qemu",
    keepsShims: true,
    clock: () => running.clock(),
    heard: [],
    run: async (script) => await running.channel.run(script),
    read: async (script) => {
      const { code, output } = await machine.run(script);
      if (code !== 0) throw new Error(`exit code ${code} of: ${script}\n${output}`);
      return output.trimEnd();
    },
    untilStarted: async () => await running.channel.untilHello(),
    untilOff: async () => {
      const { clock, pid } = running;
      await within(clock, OFF_MS, untilEnded(pid), "the machine does not switch itself off");
    },
    switchOn: async (kernelWords = []) => {
      await stop();
      running = await start({ ...options, kernelWords });
    },
    cutPower: async () => {
      const hello = running.channel.untilHello();
      running.channel.giveUp("the power was cut");
      await tellQemu(sockets.control, "system_reset");
      await hello;
    },
    remove: async () => {
      await stop();
      await Promise.all([...Object.values(sockets), kept].map(async (path) => await rm(path, { force: true })));
    },
    startNeighbour: async () => await Promise.reject(new Error("QEMU starts one machine only")),
    keep: async () => {
      const known: Kept = { pid: running.pid, disk: options.disk };
      await writeFile(kept, JSON.stringify(known));
      running.channel.close();
    },
  };
  return Object.defineProperty(machine, "heard", { get: () => running.channel.heard });
}

/** It may be the process of a run before this one. */
function isOn(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function untilEnded(pid: number): Promise<void> {
  while (isOn(pid)) await delay(LOOK_AGAIN_MS);
}

function socketsOf(directory: string): { commands: string; control: string } {
  return { commands: join(directory, "commands.sock"), control: join(directory, "control.sock") };
}

async function start(options: QemuOptions): Promise<Running> {
  const { disk, directory, isShell = false, kernelWords = [] } = options;
  const sockets = socketsOf(directory);
  const console = await open(join(directory, "console.log"), "a");
  const output = isShell ? "inherit" : console.fd;
  const child = spawn("nice", ["qemu-system-x86_64", ...argumentsOf(disk, sockets, kernelWords)], {
    stdio: [isShell ? "inherit" : "ignore", output, output],
    detached: !isShell,
  });
  await console.close();
  const { pid } = child;
  if (pid === undefined) throw new Error("QEMU does not start");
  try {
    const failed = untilEnded(pid).then(() => {
      throw new Error(`QEMU ended at once: see ${directory}/console.log`);
    });
    const clock = createMachineClock(pid);
    const channel = await Promise.race([openChannel(sockets.commands, clock), failed]);
    failed.catch(() => undefined);
    await channel.untilHello();
    return { pid, clock, channel };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

function argumentsOf(
  disk: Disk,
  { commands, control }: { commands: string; control: string },
  kernelWords: readonly string[],
): string[] {
  const always = ["root=/dev/vda", "rw", "console=ttyS0", "quiet", "psi=1", "systemd.show_status=0", "maxcpus=1"];
  const kernel = [...always, ...kernelWords];
  return [
    ...["-accel", "tcg", "-icount", `shift=${NS_PER_INSTRUCTION_SHIFT}`],
    ...["-cpu", "max", "-smp", "2", "-m", "2560", "-nographic"],
    ...["-nic", "user,model=virtio-net-pci,restrict=on", "-device", "virtio-rng-pci"],
    ...["-drive", `file=${disk.image},format=raw,if=virtio,cache=writeback`],
    ...["-device", "virtio-serial-pci", "-device", `virtserialport,chardev=commands,name=${PORT_NAME}`],
    ...["-chardev", `socket,id=commands,path=${commands},server=on,wait=off`],
    ...["-qmp", `unix:${control},server=on,wait=off`],
    ...["-kernel", disk.kernel, "-initrd", disk.initrd, "-append", kernel.join(" ")],
  ];
}

/** Gives an order by QEMU's own protocol, which wants to be greeted first, and waits until it is carried out. */
async function tellQemu(path: string, order: string): Promise<void> {
  const socket = await connectTo(path);
  try {
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
    for (const execute of ["qmp_capabilities", order]) {
      socket.write(`${JSON.stringify({ execute })}\n`);
      for (;;) {
        const { value = "", done } = await lines.next();
        if (done === true || value.startsWith('{"error"'))
          throw new Error(`QEMU does not carry out ${execute}: ${value}`);
        if (value.startsWith('{"return"')) break;
      }
    }
  } finally {
    socket.destroy();
  }
}
