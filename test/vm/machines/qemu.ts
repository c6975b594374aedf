import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Disk } from "../disk/build-disk.ts";
import { PORT_NAME } from "../disk/recipe.ts";
import { type Channel, connectTo, openChannel, within } from "./channel.ts";
import type { Machine } from "./machine.ts";

const OFF_MS = 1_200_000;

interface QemuOptions {
  readonly disk: Disk;
  /** Where its sockets and the log of its console are. */
  readonly directory: string;
  /** The console is this terminal's. */
  readonly isShell?: boolean;
}

/** One QEMU process and the connections to it. */
interface Running {
  readonly child: ChildProcess;
  readonly channel: Channel;
}

/**
 * Starts a virtual machine whose processor is emulated: it needs no rights and no abilities of this machine, and is
 * some twenty times slower. Its network reaches nothing. What it writes is on the disk when it says so.
 */
export async function startQemu(options: QemuOptions): Promise<Machine> {
  let running = await start(options);
  const sockets = socketsOf(options.directory);
  const stop = async (): Promise<void> => {
    const { child, channel } = running;
    channel.close();
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  const machine: Machine = {
    kind: "qemu",
    heard: [],
    run: async (script) => await running.channel.run(script),
    read: async (script) => {
      const { code, output } = await machine.run(script);
      if (code !== 0) throw new Error(`exit code ${code} of: ${script}\n${output}`);
      return output.trimEnd();
    },
    untilStarted: async () => await running.channel.untilHello(),
    untilOff: async () => {
      const { child } = running;
      if (child.exitCode === null) await within(OFF_MS, once(child, "exit"), "the machine does not switch itself off");
    },
    switchOn: async () => {
      await stop();
      running = await start(options);
    },
    cutPower: async () => {
      const hello = running.channel.untilHello();
      running.channel.giveUp("the power was cut");
      await tellQemu(sockets.control, "system_reset");
      await hello;
    },
    remove: async () => {
      await stop();
      await Promise.all(Object.values(sockets).map(async (path) => await rm(path, { force: true })));
    },
  };
  return Object.defineProperty(machine, "heard", { get: () => running.channel.heard });
}

function socketsOf(directory: string): { commands: string; control: string } {
  return { commands: join(directory, "commands.sock"), control: join(directory, "control.sock") };
}

async function start({ disk, directory, isShell = false }: QemuOptions): Promise<Running> {
  const sockets = socketsOf(directory);
  const console = await open(join(directory, "console.log"), "a");
  const output = isShell ? "inherit" : console.fd;
  const child = spawn("nice", ["qemu-system-x86_64", ...argumentsOf(disk, sockets)], {
    stdio: [isShell ? "inherit" : "ignore", output, output],
  });
  await console.close();
  try {
    const channel = await Promise.race([openChannel(sockets.commands), failedStart(child, directory)]);
    await channel.untilHello();
    return { child, channel };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

async function failedStart(child: ChildProcess, directory: string): Promise<never> {
  await once(child, "exit");
  throw new Error(`QEMU ended at once: see ${directory}/console.log`);
}

function argumentsOf(disk: Disk, { commands, control }: { commands: string; control: string }): string[] {
  const kernel = ["root=/dev/vda", "rw", "console=ttyS0", "quiet", "psi=1", "systemd.show_status=0"];
  return [
    ...["-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "1", "-m", "2560", "-nographic"],
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
